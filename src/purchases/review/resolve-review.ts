import { auditInsert, type ChangedBy } from '../../audit/record-audit.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { announceSellerCredit } from '../../money/credits/post-seller-credits.js';
import { post } from '../../money/posting/post.js';
import type { Change, Insert, Posting } from '../../money/posting/posting.js';
import { now, nowMs } from '../../shared/clock.js';
import { findHeld } from '../../database/find-confirmed.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { announceDeliveries } from '../../webhooks/announce-deliveries.js';
import { askProviderJob } from '../fulfil/ask-provider.job.js';
import { failureEnding, successEnding, type Ending } from '../fulfil/ending-postings.js';
import { ordersOf } from '../fulfil/orders.js';
import type { Order } from '../order.model.js';
import { purchases, type Purchase } from '../purchase.model.js';
import { openOrder, orderToBook, possibleDecisions, type Outcome } from './possible-decisions.js';
import { requirePurchase } from './require-purchase.js';

export type Decision =
  /** The provider has executed it. */
  | { outcome: 'success'; serialNumber: string | null }
  /** The provider certainly has not and will not: the debit goes back. */
  | { outcome: 'failed' }
  /** Back to the workers: they ask the provider again, or, where no order is open, look for the next seller. */
  | { outcome: 'ask' };

/**
 * The operator decides a purchase under review, by what the provider's own record says: one posting, with its audit
 * entry.
 * @throws NotFoundError. ConflictError if it does not wait for a decision (any more), or if this one is not possible:
 *   its words say what to do instead.
 */
export async function resolveReview(
  purchaseId: string,
  decision: Decision,
  by: ChangedBy,
): Promise<Purchase> {
  const purchase = await requirePurchase(purchaseId);
  if (purchase.reviewSince === null) {
    throw new ConflictError(asWritten(`Transaction ${purchaseId} does not wait for a decision.`));
  }
  const orders = await ordersOf(purchase);
  const whyNot = possibleDecisions(purchase, orders)[decision.outcome];
  if (whyNot !== null) {
    throw new ConflictError(asWritten(whyNot));
  }
  const audit = auditOf(purchase, decision, by);
  if (decision.outcome === 'ask') {
    await post(underReview(purchase, askPosting(purchase), audit)).then(requirePosted(purchaseId));
    const { accountId, requestId } = purchase;
    await tryToAddJob(askProviderJob, { purchaseId, accountId, askNow: true }, { requestId });
  } else {
    const open = openOrder(orders);
    mustBeQuiet(open);
    const { posting, deliveries } = await endingOf(purchase, orders, decision);
    await post(underReview(purchase, stillQuiet(posting, open), audit)).then(requirePosted(purchaseId));
    await announceDeliveries(deliveries);
  }
  const decided = await requirePurchase(purchaseId, { accountId: purchase.accountId, find: findHeld });
  if (decided.status === 'SUCCESS' && decided.sellerId) {
    await announceSellerCredit(decided.sellerId);
  }
  return decided;
}

/** A worker or another operator that was quicker is no error of ours: the operator looks again. */
export function requirePosted(purchaseId: string): (result: { outcome: string }) => void {
  return ({ outcome }) => {
    if (outcome !== 'posted') {
      throw new ConflictError(asWritten(`Transaction ${purchaseId} has just changed. Look at it again.`));
    }
  };
}

/**
 * A process may be about to send the order, or to ask about it, which is the order again: what it is told is not known yet.
 * @throws ConflictError until the time of that is over.
 */
function mustBeQuiet(order: Order | null): void {
  const leftMs = (order?.leaseUntil?.getTime() ?? 0) - nowMs();
  if (order && leftMs > 0) {
    const seconds = Math.ceil(leftMs / 1_000);
    throw new ConflictError(
      asWritten(
        `Attempt ${order._id} is being sent or asked about just now, so its provider may answer yet. Decide again in ${seconds} s.`,
      ),
    );
  }
}

/** Nor has anybody begun to ask about it since it was looked at. */
function stillQuiet(posting: Posting, order: Order | null): Posting {
  const changes = posting.changes?.map((change) =>
    change.id === order?._id
      ? { ...change, expect: { ...change.expect, leaseToken: order.leaseToken } }
      : change,
  );
  return { ...posting, ...(changes && { changes }) };
}

async function endingOf(
  purchase: Purchase,
  orders: Order[],
  decision: Exclude<Decision, { outcome: 'ask' }>,
): Promise<Ending> {
  if (decision.outcome === 'failed') {
    return failureEnding(purchase, openOrder(orders), {
      code: '01',
      message: 'The provider did not execute it, the debit was returned',
    });
  }
  const order = orderToBook(orders);
  if (!order) {
    throw new Error(`A success of transaction ${purchase._id} without an order was not refused`);
  }
  return successEnding(purchase, order, {
    code: 'operator',
    message: 'Transaction successful',
    serialNumber: decision.serialNumber,
  });
}

/** From here the workers go on, and the time until the next review begins anew. */
function askPosting({ _id, accountId, status, version }: Purchase): Posting {
  const at = now();
  return {
    accountId,
    kind: 'review-ask',
    subjectId: _id,
    changes: [
      {
        collection: purchases.collectionName,
        id: _id,
        expect: { status, version },
        set: { reviewSince: null, reviewAskedAt: at, nextActionAt: at, updatedAt: at },
      },
    ],
  };
}

/** One review is decided once: it must still be the one that the operator has seen. */
function underReview({ reviewSince }: Purchase, posting: Posting, audit: Insert): Posting {
  const [change, ...others] = posting.changes ?? [];
  const guarded = change && { ...change, expect: { ...change.expect, reviewSince } };
  return {
    ...posting,
    changes: [...(guarded ? [guarded] : []), ...others] satisfies Change[],
    // First: it is what shows after a lost answer whether a step without a journal holds.
    inserts: [audit, ...(posting.inserts ?? [])],
  };
}

function auditOf(purchase: Purchase, { outcome, ...details }: Decision, by: ChangedBy): Insert {
  const { _id, status, reviewSince, reviewReason = null } = purchase;
  return auditInsert({
    ...by,
    action: 'review.resolve',
    subject: { kind: 'transaction', id: _id },
    before: { status, reviewSince, reviewReason },
    // The word of `topup review resolve --as`, by which earlier entries are found.
    after: { as: outcome satisfies Outcome, ...details },
  });
}
