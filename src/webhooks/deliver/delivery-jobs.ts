import Joi from 'joi';
import { defineJob, defineQueue } from '../../jobs/define-job.js';
import { defineScheduledJob } from '../../jobs/sweep-job.js';
import { webhookLimits } from '../webhook-limits.js';
import { addJobs } from '../../jobs/add-job.js';
import { logger } from '../../shared/logger.js';
import { getReceiverAccountId, getImmediateDueTime } from '../new-delivery.js';
import { type Delivery, deliveries } from './delivery.model.js';
import { now } from '../../shared/clock.js';
import { receivers } from '../receivers/receiver.model.js';

interface ReceiverData {
  receiverId: string;
  /** The account that owns the receiver. */
  accountId: string;
}

/**
 * One turn of a receiver. A receiver takes one place in the queue for all its events. A turn
 * requested during an active one follows it, so that no row is missed.
 */
export const deliverDueJob = defineJob<ReceiverData>({
  queue: defineQueue({
    name: 'webhooks',
    does: 'Delivers webhooks and callbacks, one job per receiver',
    concurrency: webhookLimits.slots,
  }),
  name: 'deliver-due',
  version: 3,
  data: Joi.object({ receiverId: Joi.string(), accountId: Joi.string() }),
  subject: ({ receiverId }) => receiverId,
  whileActive: 'follow',
});

/** Finds receivers with due rows and gives each a turn. */
export const sweepDeliveriesJob = defineScheduledJob('sweep-deliveries', 4_000);

/**
 * Enqueues turns for the receivers of these rows. Call this after the commit. Never throws: without
 * Redis, the sweep finds the rows.
 */
export async function announceDeliveries(rows: readonly Pick<Delivery, 'receiverId'>[]): Promise<void> {
  await enqueueTurns(new Set(rows.map((row) => row.receiverId)));
}

/**
 * Enqueues a turn for each receiver. It never throws: without Redis the sweep enqueues the turns
 * later.
 */
export async function enqueueTurns(receiverIds: Iterable<string>): Promise<void> {
  const turns = [...receiverIds].map((receiverId) => ({
    receiverId,
    accountId: getReceiverAccountId(receiverId),
  }));
  try {
    await addJobs(deliverDueJob, turns);
  } catch (error) {
    logger.warn('receiver turns not added; the sweep will add them', { receivers: turns.length, error });
  }
}

/** A sweep stops searching once it has found this many receivers. */
const receiversMax = 2_000;
/** Maximum number of queries per sweep. */
const queriesMax = 500;
/** Maximum number of rows per query. */
const rowsMax = 1_000;
/** Where the last sweep stopped, so that every receiver is reached. */
let after = '';

/**
 * Finds receivers with due rows and enqueues their turns: due retries, rows of crashed workers,
 * rows whose job was lost with Redis.
 * @returns The number of receivers.
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
  await enqueueTurns(awaited);
  return awaited.length;
}

/**
 * Scans the index, starting after the last receiver of each batch. A batch takes twice as many rows
 * as the last one had receivers. This way, many small receivers need few queries, and a receiver
 * with a million rows is skipped quickly.
 */
async function findDueReceivers(): Promise<string[]> {
  const at = now();
  const found = new Set<string>();
  let size = 64;
  for (let queries = 0; queries < queriesMax && found.size < receiversMax; queries++) {
    // Rows move in this index. The next sweep finds a missed one.
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
 * Makes an account's waiting deliveries due now; the attempt counts towards the retry schedule.
 * Rows in flight stay with their worker, and open circuit breakers become half-open. A second call
 * finds nothing to do.
 * @returns The number of rows.
 */
export async function sendWaitingDeliveriesNow(accountId: string): Promise<number> {
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
  await enqueueTurns(await deliveries.distinct('receiverId', { ...mine, nextAttemptAt: { $lte: at } }));
  return modifiedCount;
}
