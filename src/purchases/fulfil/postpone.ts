import { getQuickCollection } from '../../database/mongo.js';
import { nowMs } from '../../shared/clock.js';
import { batchCalls } from '../../shared/gathered.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { finalStatuses } from '../states.js';
import { purchases, type Purchase } from '../purchase.model.js';
import { askProviderJob } from './ask-provider.job.js';
import { getSweepTime } from './purchase-outbox.js';

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
