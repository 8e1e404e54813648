import { env } from '../../../config/env.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { getAwaitedPriority, jobPriorities } from '../../providers/place-in-line.js';
import { nowMs } from '../../shared/clock.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { StalePurchaseError } from '../states.js';
import { getProviderFulfilmentJob } from './fulfil-at-provider.job.js';
import { getSweepTime } from './purchase-outbox.js';

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
