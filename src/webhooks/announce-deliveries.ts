import { addJobs } from '../jobs/add-job.js';
import { logger } from '../shared/logger.js';
import { deliverDueJob } from './deliver-due.job.js';
import { getReceiverAccountId } from './new-delivery.js';
import type { Delivery } from './delivery.model.js';

/**
 * Has workers look at the receivers of these rows now. Call it after the commit. It never fails: while Redis is
 * away the rows wait, and the sweep finds them.
 */
export async function announceDeliveries(rows: readonly Pick<Delivery, 'receiverId'>[]): Promise<void> {
  await giveTurns(new Set(rows.map((row) => row.receiverId)));
}

/** Gives each of these receivers a turn soon. It never fails: without Redis the sweep does it later. */
export async function giveTurns(receiverIds: Iterable<string>): Promise<void> {
  const turns = [...receiverIds].map((receiverId) => ({
    receiverId,
    accountId: getReceiverAccountId(receiverId),
  }));
  try {
    await addJobs(deliverDueJob, turns);
  } catch (error) {
    logger.warn('turns of receivers were not added, the sweep will', { receivers: turns.length, error });
  }
}
