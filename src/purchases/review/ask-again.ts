import type { ChangedBy } from '../../audit/record-audit.js';
import { now } from '../../shared/clock.js';
import { ConflictError } from '../../shared/errors.js';
import { inChunks } from '../../shared/in-chunks.js';
import { ordersOf } from '../fulfil/orders.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { decisionsLeft } from './possible-decisions.js';
import { resolveReview } from './resolve-review.js';

export interface AskedAgain {
  /** Back with the workers. */
  asked: number;
  /** Their provider must not be asked, or has sold it: a person decides each. */
  toDecide: number;
  /** Somebody else was quicker. */
  changed: number;
}

/** Decided beside each other. */
const chunkSize = 25;

/**
 * After an outage: every purchase that waits for a decision now, the oldest first, is asked about again where that is
 * possible. Each is one posting with its audit entry; broken off in the middle, it may be run again.
 * @param options.sellerId Only those whose last order went to this seller.
 */
export async function askAgain(options: { sellerId: string | null }, by: ChangedBy): Promise<AskedAgain> {
  const done: AskedAgain = { asked: 0, toDecide: 0, changed: 0 };
  // Those that come back meanwhile wait for the next run.
  const waiting = PurchaseModel.find({ reviewSince: { $type: 'date', $lte: now() } })
    .sort({ reviewSince: 1 })
    .lean<Purchase[]>()
    .cursor({ batchSize: chunkSize });
  for await (const chunk of inChunks<Purchase>(waiting, chunkSize)) {
    for (const came of await Promise.all(chunk.map((each) => askAbout(each, options, by)))) {
      if (came !== null) {
        done[came] += 1;
      }
    }
  }
  return done;
}

async function askAbout(
  purchase: Purchase,
  { sellerId }: { sellerId: string | null },
  by: ChangedBy,
): Promise<keyof AskedAgain | null> {
  const orders = await ordersOf(purchase);
  if (sellerId !== null && orders.at(-1)?.sellerId !== sellerId) {
    return null;
  }
  if (!decisionsLeft(purchase, orders).includes('ask')) {
    return 'toDecide';
  }
  try {
    await resolveReview(purchase._id, { outcome: 'ask' }, by);
    return 'asked';
  } catch (error) {
    if (error instanceof ConflictError) {
      return 'changed';
    }
    throw error;
  }
}
