import { nowMs } from '../../shared/clock.js';
import { gathered } from '../../shared/gathered.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { finalStatuses } from '../states.js';
import { purchases, type Purchase } from '../purchase.model.js';
import { askProviderJob } from './ask-provider.job.js';
import { sweepAfter } from './purchase-outbox.js';

/**
 * Puts a purchase aside for `wantedDelayMs`; it is due at once if that is in the past. First in MongoDB, where the
 * sweep finds it whatever happens to Redis, then as a delayed job.
 */
export async function postpone(purchase: Purchase, wantedDelayMs: number): Promise<void> {
  const { _id, accountId, requestId } = purchase;
  // After a time-out the schedule's moment has often passed already.
  const delayMs = Math.max(0, wantedDelayMs);
  await putAside({ purchase, until: sweepAfter(purchase.epoch, nowMs() + delayMs) });
  await tryToAddJob(askProviderJob, { purchaseId: _id, accountId, askNow: false }, { delayMs, requestId });
}

/** Those of one moment share a command: when a provider goes, all that waits for it is put aside at once. */
const putAside = gathered<{ purchase: Purchase; until: Date }, null>({
  itemsMax: 100,
  async run(all) {
    await purchases.bulkWrite(
      all.map(({ purchase: { _id, accountId, version }, until }) => ({
        updateOne: {
          // Whoever has sent another order meanwhile has said himself when to look at it.
          filter: { _id, accountId, version, status: { $nin: [...finalStatuses] }, reviewSince: null },
          update: { $set: { nextActionAt: until, queuedFor: null } },
        },
      })),
      { ordered: false },
    );
    return all.map(() => null);
  },
});
