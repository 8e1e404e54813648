import { getQuickCollection } from '../../database/mongo.js';
import { nowMs } from '../../shared/clock.js';
import { batchCalls } from '../../shared/concurrency.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { finalStatuses, StalePurchaseError } from '../states.js';
import { purchases, type Purchase, PurchaseModel } from '../purchase.model.js';
import { askProviderJob, getSweepTime, getProviderFulfilmentJob } from './fulfilment-jobs.js';
import { env } from '../../../config/env.js';
import { getAwaitedPriority, jobPriorities } from '../../providers/backlog.js';

/**
 * Postpones a purchase by `wantedDelayMs`, at least 0. It first writes the time to MongoDB, so that
 * the sweep adds the job if Redis fails. Then it adds a delayed job. A stale version is not
 * postponed: the process that changed the purchase has already scheduled it.
 */
export async function postpone(purchase: Purchase, wantedDelayMs: number): Promise<void> {
  const { _id, accountId, requestId } = purchase;
  // After a timeout, the scheduled time has often already passed.
  const delayMs = Math.max(0, wantedDelayMs);
  if (!(await postponeInDatabase({ purchase, until: getSweepTime(purchase.epoch, nowMs() + delayMs) }))) {
    return;
  }
  await tryToAddJob(askProviderJob, { purchaseId: _id, accountId, askNow: false }, { delayMs, requestId });
}

const postponableFilter = { status: { $nin: [...finalStatuses] }, reviewSince: null };

/**
 * Stores the new time of a postponed purchase. Concurrent calls share a command, because an outage
 * postpones all purchases of a provider at once.
 * @returns False if the purchase has changed.
 */
const postponeInDatabase = batchCalls<{ purchase: Purchase; until: Date }, boolean>({
  itemsMax: 100,
  async run(all) {
    const { matchedCount } = await purchases.bulkWrite(
      all.map(({ purchase: { _id, accountId, version }, until }) => ({
        updateOne: {
          filter: { _id, accountId, version, ...postponableFilter },
          update: { $set: { nextActionAt: until, queuedFor: null } },
        },
      })),
      { ordered: false },
    );
    if (matchedCount === all.length) {
      return all.map(() => true);
    }
    const found = await getQuickCollection(purchases)
      .find(
        {
          accountId: { $in: all.map(({ purchase }) => purchase.accountId) },
          _id: { $in: all.map(({ purchase }) => purchase._id) },
          ...postponableFilter,
        },
        { projection: { version: 1 } },
      )
      .toArray();
    const versions = new Map(found.map(({ _id, version }) => [_id, version]));
    return all.map(({ purchase }) => versions.get(purchase._id) === purchase.version);
  },
});

/**
 * Queues a purchase at a seller's provider. It writes the queue to MongoDB before it adds the job,
 * so that the sweep can add a lost job to the same queue.
 * @throws StalePurchaseError if the purchase has changed since it was read.
 */
export async function queueAtProvider(purchase: Purchase, sellerId: string): Promise<void> {
  const { _id, accountId, status, version, epoch } = purchase;
  const { matchedCount } = await PurchaseModel.updateOne(
    { _id, accountId, status, version, reviewSince: null },
    { $set: { queuedFor: sellerId, nextActionAt: getSweepTime(epoch) } },
  );
  if (matchedCount === 0) {
    throw new StalePurchaseError(`Transaction ${_id} changed in the meantime`);
  }
  await addJobAtProvider(purchase, sellerId);
}

/**
 * Adds the job of a purchase with its priority in the provider's queue. Never throws: the sweep
 * adds a lost job again, ahead of later purchases.
 */
export async function addJobAtProvider(purchase: Purchase, sellerId: string): Promise<void> {
  const { _id, accountId, requestId } = purchase;
  const priority = isClientWaiting(purchase) ? await getAwaitedPriority(sellerId) : jobPriorities.usual;
  await tryToAddJob(
    getProviderFulfilmentJob(sellerId),
    { purchaseId: _id, accountId },
    { priority, requestId },
  );
}

/** True if the client still holds a connection open for the outcome. */
function isClientWaiting({ surface, createdAt }: Purchase): boolean {
  return surface === 'reseller' && nowMs() - createdAt.getTime() < env.RESELLER_SYNC_WAIT_MS;
}

/** Minimum delay of a retry in milliseconds when no seller can serve a purchase. */
const retryEveryMs = 10_000;
/**
 * Minimum interval between two retries of a seller, in milliseconds. This allows 50 retries per
 * second. If more than 500 purchases wait, each of them waits longer than ten seconds.
 */
const retrySpacingMs = 20;

interface RetrySchedule {
  /** Time at which the last scheduled retry runs, on the monotonic clock of this process. */
  lookAtMs: number;
  /** When that retry was scheduled, on the same clock. */
  promisedMs: number;
}

/** The retry queue of each seller. Each process paces its own retries. */
const retrySchedules = new Map<string, RetrySchedule>();

/**
 * Returns the delay in milliseconds until a purchase that no seller can serve is tried again.
 * Retries of a seller are spaced in order, so that thousands of them leave capacity for other
 * purchases (decision 020).
 *
 * @param options.sellerId The seller of the purchase's offer.
 * @param options.leftMs The remaining part of the purchase's maximum wait. The delay never exceeds
 *   it.
 */
export function getRetryDelayMs(
  { sellerId, leftMs }: { sellerId: string; leftMs: number },
  nowMs = performance.now(),
): number {
  const line = retrySchedules.get(sellerId);
  const soonestMs = nowMs + retryEveryMs;
  // A queue without a recent entry counts as empty.
  const isInLine = line !== undefined && nowMs - line.promisedMs <= 2 * retryEveryMs;
  const lookAtMs = isInLine ? Math.max(soonestMs, line.lookAtMs + retrySpacingMs) : soonestMs;
  retrySchedules.set(sellerId, { lookAtMs, promisedMs: nowMs });
  return Math.max(0, Math.min(lookAtMs - nowMs, leftMs));
}
