import type { ChangedBy } from '../../audit/record-audit.js';
import { now } from '../../shared/clock.js';
import { ConflictError } from '../../shared/errors.js';
import { collectChunks } from '../../shared/in-chunks.js';
import { findOrders } from '../fulfil/orders.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { getAcceptedDecisions } from './possible-decisions.js';
import { resolveReview } from './resolve-review.js';

export interface RecheckCounts {
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
export async function recheckOpenReviews(
  options: { sellerId: string | null },
  by: ChangedBy,
): Promise<RecheckCounts> {
  const done: RecheckCounts = { asked: 0, toDecide: 0, changed: 0 };
  // Those that come back meanwhile wait for the next run.
  const waiting = PurchaseModel.find({ reviewSince: { $type: 'date', $lte: now() } })
    .sort({ reviewSince: 1 })
    .lean<Purchase[]>()
    .cursor({ batchSize: chunkSize });
  for await (const chunk of collectChunks<Purchase>(waiting, chunkSize)) {
    for (const came of await Promise.all(chunk.map((each) => recheckReview(each, options, by)))) {
      if (came !== null) {
        done[came] += 1;
      }
    }
  }
  return done;
}

async function recheckReview(
  purchase: Purchase,
  { sellerId }: { sellerId: string | null },
  by: ChangedBy,
): Promise<keyof RecheckCounts | null> {
  const orders = await findOrders(purchase);
  if (sellerId !== null && orders.at(-1)?.sellerId !== sellerId) {
    return null;
  }
  if (!getAcceptedDecisions(purchase, orders).includes('ask')) {
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
