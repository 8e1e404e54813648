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
 * Puts a purchase aside for `wantedDelayMs`; it is due at once if that is in the past. First in MongoDB, where the
 * sweep finds it whatever happens to Redis, then as a delayed job. Nothing is put aside by who has seen an earlier version of it:
 * whoever has sent another order meanwhile has said himself when to look at it.
 */
export async function postpone(purchase: Purchase, wantedDelayMs: number): Promise<void> {
  const { _id, accountId, requestId } = purchase;
  // After a time-out the schedule's moment has often passed already.
  const delayMs = Math.max(0, wantedDelayMs);
  if (!(await postponeInDatabase({ purchase, until: getSweepTime(purchase.epoch, nowMs() + delayMs) }))) {
    return;
  }
  await tryToAddJob(askProviderJob, { purchaseId: _id, accountId, askNow: false }, { delayMs, requestId });
}

const postponableFilter = { status: { $nin: [...finalStatuses] }, reviewSince: null };

/** @returns whether it was put aside. Those of one moment share a command: when a provider goes, all that waits for it is put aside at once. */
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
 * Lets a purchase wait for its turn at a seller's provider. First in MongoDB, so that the sweep knows in which queue its
 * job has to be, then as a job.
 * @throws StalePurchaseError if the purchase has changed since it was read.
 */
export async function queueAtProvider(purchase: Purchase, sellerId: string): Promise<void> {
  const { _id, accountId, status, version, epoch } = purchase;
  const { matchedCount } = await PurchaseModel.updateOne(
    { _id, accountId, status, version, reviewSince: null },
    { $set: { queuedFor: sellerId, nextActionAt: getSweepTime(epoch) } },
  );
  if (matchedCount === 0) {
    throw new StalePurchaseError(`Transaction ${_id} changed meanwhile`);
  }
  await addJobAtProvider(purchase, sellerId);
}

/** Adds its job, at the place that is its own. Never fails: the sweep adds what is not there, ahead of those that came later. */
export async function addJobAtProvider(purchase: Purchase, sellerId: string): Promise<void> {
  const { _id, accountId, requestId } = purchase;
  const priority = isClientWaiting(purchase) ? await getAwaitedPriority(sellerId) : jobPriorities.usual;
  await tryToAddJob(
    getProviderFulfilmentJob(sellerId),
    { purchaseId: _id, accountId },
    { priority, requestId },
  );
}

/** Its client holds a connection open for the outcome. */
function isClientWaiting({ surface, createdAt }: Purchase): boolean {
  return surface === 'reseller' && nowMs() - createdAt.getTime() < env.RESELLER_SYNC_WAIT_MS;
}

/**
 * When an order that nobody can serve now is looked at again: after ten seconds. Thousands of them, whose provider has gone
 * while they waited for their turn, would keep a process busy with nothing else; so they are looked at one after the other, in the
 * order in which they were put aside, and at a pace that leaves room for the orders of others (decision 020).
 */

/** The soonest. */
const retryEveryMs = 10_000;
/** Fifty looks a second and seller: where more than 500 wait, each waits for longer than ten seconds. */
const retrySpacingMs = 20;

interface RetryLine {
  /** The last look that was promised, and when: by the clock of this process, which nobody sets. */
  lookAtMs: number;
  promisedMs: number;
}

/** By seller. In this process alone: each has a pace of its own. */
const retryLines = new Map<string, RetryLine>();

/**
 * The delay until the next look at an order, in milliseconds.
 * @param options.sellerId Whose provider it waits for.
 *   `leftMs`: what is left of its longest wait. Then it is looked at whatever the pace, and given back in time.
 */
export function getRetryDelayMs(
  { sellerId, leftMs }: { sellerId: string; leftMs: number },
  nowMs = performance.now(),
): number {
  const line = retryLines.get(sellerId);
  const soonestMs = nowMs + retryEveryMs;
  // With none put aside for longer than one waits, nobody is in line any more, whatever was promised.
  const isInLine = line !== undefined && nowMs - line.promisedMs <= 2 * retryEveryMs;
  const lookAtMs = isInLine ? Math.max(soonestMs, line.lookAtMs + retrySpacingMs) : soonestMs;
  retryLines.set(sellerId, { lookAtMs, promisedMs: nowMs });
  return Math.max(0, Math.min(lookAtMs - nowMs, leftMs));
}
