import Joi from 'joi';
import { defineJob, defineQueue } from '../../jobs/define-job.js';
import { defineClocked } from '../../jobs/sweep-job.js';
import { webhookLimits } from '../webhook-limits.js';
import { addJobs } from '../../jobs/add-job.js';
import { logger } from '../../shared/logger.js';
import { getReceiverAccountId, getImmediateDueTime } from '../new-delivery.js';
import { type Delivery, deliveries } from './delivery.model.js';
import { now } from '../../shared/clock.js';
import { receivers } from '../receivers/receiver.model.js';

interface ReceiverData {
  receiverId: string;
  /** The account whose address it is. */
  accountId: string;
}

/**
 * One turn of a receiver. However many events it has, it takes one place in the queue; a turn that is asked for while
 * one is under way follows it, so that no row slips between the two.
 */
export const deliverDueJob = defineJob<ReceiverData>({
  queue: defineQueue({
    name: 'webhooks',
    does: 'Delivers webhooks and callbacks, one job a receiver',
    concurrency: webhookLimits.slots,
  }),
  name: 'deliver-due',
  version: 3,
  data: Joi.object({ receiverId: Joi.string(), accountId: Joi.string() }),
  subject: ({ receiverId }) => receiverId,
  whileActive: 'follow',
});

/** Finds receivers that are due and makes sure that each gets its turn. */
export const sweepDeliveriesJob = defineClocked('sweep-deliveries', 4_000);

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

/** Of one sweep. */
const receiversMax = 2_000;
const queriesMax = 500;
const rowsMax = 1_000;
/** Where the last sweep stopped, so that many waiting receivers all get their turn. */
let after = '';

/**
 * Finds receivers with rows that are due and makes sure that each gets its turn: retries whose time has come, rows
 * whose worker died, rows whose job was lost with Redis.
 * @returns How many receivers got one.
 */
export async function sweepDeliveries(): Promise<number> {
  const found = await findDueReceivers();
  if (found.length === 0) {
    return 0;
  }
  const open = await receivers
    .find({ _id: { $in: found }, openUntil: { $gt: now() } })
    .project<{ _id: string }>({ _id: 1 })
    .toArray();
  const spared = new Set(open.map((receiver) => receiver._id));
  const awaited = found.filter((receiverId) => !spared.has(receiverId));
  await giveTurns(awaited);
  return awaited.length;
}

/**
 * Walks along the index, from behind the last receiver of each batch. A batch has room for twice as many rows as the last
 * one had receivers: many receivers with a row each are few queries, and one with a million rows is stepped over.
 */
async function findDueReceivers(): Promise<string[]> {
  const at = now();
  const found = new Set<string>();
  let size = 64;
  for (let queries = 0; queries < queriesMax && found.size < receiversMax; queries++) {
    // Rows move in this index. One that is missed is found by the next sweep.
    const rows = await deliveries
      .find(
        { state: 'due', receiverId: { $gt: after }, nextAttemptAt: { $lte: at } },
        { projection: { _id: 0, receiverId: 1 }, sort: { receiverId: 1, nextAttemptAt: 1 }, limit: size },
      )
      .toArray();
    const ids = new Set(rows.map(({ receiverId }) => receiverId));
    ids.forEach((id) => found.add(id));
    after = rows.length < size ? '' : (rows.at(-1)?.receiverId ?? '');
    if (after === '') {
      break;
    }
    size = Math.min(rowsMax, 2 * ids.size);
  }
  return [...found];
}

/**
 * Sends what an account's receivers would get later now, in place of waiting for the schedule: the next attempt of each row, which
 * counts as that attempt. What a worker has under way is left to it; a receiver that was left alone for its failures is tried.
 * A second call finds nothing to do. @returns how many rows.
 */
export async function hurryDeliveries(accountId: string): Promise<number> {
  const at = now();
  const mine = { accountId, state: 'due' as const, leaseToken: null };
  await receivers.updateMany(
    { accountId, disabledAt: null, openUntil: { $gt: at } },
    { $set: { openUntil: at } },
  );
  const { modifiedCount } = await deliveries.updateMany(
    { ...mine, nextAttemptAt: { $gt: at } },
    { $set: { nextAttemptAt: getImmediateDueTime() } },
  );
  await giveTurns(await deliveries.distinct('receiverId', { ...mine, nextAttemptAt: { $lte: at } }));
  return modifiedCount;
}
