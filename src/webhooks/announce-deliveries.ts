import { logger } from '../shared/logger.js';
import { queue } from '../jobs/queues.js';
import type { Delivery } from './delivery.model.js';

/**
 * Has workers look at the receivers of these rows now. Call it after the commit. It never fails: while Redis is
 * away the rows wait, and the sweeper finds them.
 */
export async function announceDeliveries(rows: readonly Pick<Delivery, 'receiverId'>[]): Promise<void> {
  await addTokens(new Set(rows.map((row) => row.receiverId)));
}

/**
 * One token a receiver is waiting or active at any time, so that however many events a receiver has, it takes one
 * place in the queue. A token added while one is active follows it, so that no row slips between the two.
 */
export async function addTokens(receiverIds: Iterable<string>): Promise<void> {
  const jobs = [...receiverIds].map((receiverId) => ({
    name: 'token',
    data: { v: 1 as const, receiverId },
    opts: {
      deduplication: { id: receiverId, keepLastIfActive: true },
      removeOnComplete: true,
    },
  }));
  const [first] = jobs;
  if (!first) {
    return;
  }
  try {
    if (jobs.length === 1) {
      await queue('webhooks').add(first.name, first.data, first.opts);
    } else {
      await queue('webhooks').addBulk(jobs);
    }
  } catch (error) {
    logger.warn('webhook tokens were not added, the sweeper will', { receivers: jobs.length, error });
  }
}
