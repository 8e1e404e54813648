import { buildAuditEntryInsert, type ChangedBy } from '../../audit/record-audit.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { scheduleSellerPosting } from '../../money/credits/seller-credits.js';
import { post } from '../../money/posting/post.js';
import type { Change, Insert, Posting } from '../../money/posting/posting.js';
import { now, nowMs } from '../../shared/clock.js';
import { findMajorityHeld } from '../../database/find-confirmed.js';
import { ConflictError } from '../../shared/errors.js';
import { asWritten } from '../../shared/say.js';
import { announceDeliveries } from '../../webhooks/deliver/delivery-jobs.js';
import { askProviderJob } from '../fulfil/fulfilment-jobs.js';
import {
  buildFailureConclusion,
  buildSuccessConclusion,
  type PurchaseConclusion,
} from '../fulfil/conclude-purchase.js';
import { findOrders } from '../fulfil/orders.js';
import type { Order } from '../order.model.js';
import { purchases, type Purchase, PurchaseModel } from '../purchase.model.js';
import {
  findOpenOrder,
  findOrderToBook,
  getPossibleDecisions,
  type ReviewOutcome,
  getAcceptedDecisions,
} from './review-decisions.js';
import { requirePurchase } from '../find-purchase.js';
import { collectChunks } from '../../shared/collections.js';

export type Decision =
  /** The provider executed the order. */
  | { outcome: 'success'; serialNumber: string | null }
  /** The provider certainly did not and will not execute the order. The debit is returned. */
  | { outcome: 'failed' }
  /**
   * The purchase goes back to the workers. They ask the provider again, or try the next seller if
   * no order is open.
   */
  | { outcome: 'ask' };

/**
 * Applies the operator's decision on a purchase under review, in one posting with its audit entry.
 * @throws NotFoundError if the purchase does not exist.
 * @throws ConflictError if the purchase is not under review, or the decision is not possible. The
 *   message names the alternative.
 */
export async function resolveReview(
  purchaseId: string,
  decision: Decision,
  by: ChangedBy,
): Promise<Purchase> {
  const purchase = await requirePurchase(purchaseId);
  if (purchase.reviewSince === null) {
    throw new ConflictError(asWritten(`Transaction ${purchaseId} is not under review.`));
  }
  const orders = await findOrders(purchase);
  const whyNot = getPossibleDecisions(purchase, orders)[decision.outcome];
  if (whyNot !== null) {
    throw new ConflictError(asWritten(whyNot));
  }
  const audit = buildAuditInsert(purchase, decision, by);
  if (decision.outcome === 'ask') {
    await post(expectUnderReview(purchase, buildAskPosting(purchase), audit)).then(requirePosted(purchaseId));
    const { accountId, requestId } = purchase;
    await tryToAddJob(askProviderJob, { purchaseId, accountId, askNow: true }, { requestId });
  } else {
    const open = findOpenOrder(orders);
    requireNotInFlight(open);
    const { posting, deliveries } = await buildConclusion(purchase, orders, decision);
    await post(expectUnderReview(purchase, expectNotInFlight(posting, open), audit)).then(
      requirePosted(purchaseId),
    );
    await announceDeliveries(deliveries);
  }
  const decided = await requirePurchase(purchaseId, {
    accountId: purchase.accountId,
    find: findMajorityHeld,
  });
  if (decided.status === 'SUCCESS' && decided.sellerId) {
    await scheduleSellerPosting(decided.sellerId);
  }
  return decided;
}

/**
 * Returns a function that requires a posting to have succeeded. If a worker or another operator
 * changed the purchase first, it throws a ConflictError that asks the operator to check the
 * purchase again.
 */
export function requirePosted(purchaseId: string): (result: { outcome: string }) => void {
  return ({ outcome }) => {
    if (outcome !== 'posted') {
      throw new ConflictError(asWritten(`Transaction ${purchaseId} has just changed. Look at it again.`));
    }
  };
}

/**
 * Requires that no request for the order is in flight. Otherwise another process may be sending or
 * checking the order, and its outcome is not known yet.
 * @throws ConflictError until the lease ends.
 */
function requireNotInFlight(order: Order | null): void {
  const leftMs = (order?.leaseUntil?.getTime() ?? 0) - nowMs();
  if (order && leftMs > 0) {
    const seconds = Math.ceil(leftMs / 1_000);
    throw new ConflictError(
      asWritten(
        `A request for attempt ${order._id} is in flight, and its provider may still respond. Decide again in ${seconds} s.`,
      ),
    );
  }
}

/** Makes the posting stale if a check of the order has started since the order was read. */
function expectNotInFlight(posting: Posting, order: Order | null): Posting {
  const changes = posting.changes?.map((change) =>
    change.id === order?._id
      ? { ...change, expect: { ...change.expect, leaseToken: order.leaseToken } }
      : change,
  );
  return { ...posting, ...(changes && { changes }) };
}

async function buildConclusion(
  purchase: Purchase,
  orders: Order[],
  decision: Exclude<Decision, { outcome: 'ask' }>,
): Promise<PurchaseConclusion> {
  if (decision.outcome === 'failed') {
    return buildFailureConclusion(purchase, findOpenOrder(orders), {
      code: '01',
      message: 'The provider did not execute it, the debit was returned',
    });
  }
  const order = findOrderToBook(orders);
  if (!order) {
    throw new Error(`Transaction ${purchase._id} has no order to book the success on`);
  }
  return buildSuccessConclusion(purchase, order, {
    code: 'operator',
    message: 'Transaction successful',
    serialNumber: decision.serialNumber,
  });
}

/**
 * Builds the posting that ends the review and sends the purchase back to the workers. The time
 * until the next review starts again.
 */
function buildAskPosting({ _id, accountId, status, version }: Purchase): Posting {
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

/**
 * Makes the posting expect the review that the operator has seen, so that each review is decided
 * once.
 */
function expectUnderReview({ reviewSince }: Purchase, posting: Posting, audit: Insert): Posting {
  const [change, ...others] = posting.changes ?? [];
  const guarded = change && { ...change, expect: { ...change.expect, reviewSince } };
  return {
    ...posting,
    changes: [...(guarded ? [guarded] : []), ...others] satisfies Change[],
    // The audit entry is the first insert. For a step without a journal, it proves that the step
    // was written if the database response is lost.
    inserts: [audit, ...(posting.inserts ?? [])],
  };
}

function buildAuditInsert(purchase: Purchase, { outcome, ...details }: Decision, by: ChangedBy): Insert {
  const { _id, status, reviewSince, reviewReason = null } = purchase;
  return buildAuditEntryInsert({
    ...by,
    action: 'review.resolve',
    subject: { kind: 'transaction', id: _id },
    before: { status, reviewSince, reviewReason },
    // The value of `topup review resolve --as`. Queries find earlier entries by this value.
    after: { as: outcome satisfies ReviewOutcome, ...details },
  });
}

export interface RecheckCounts {
  /** Number of purchases sent back to the workers. */
  asked: number;
  /**
   * Number of purchases that need an operator decision. Their provider must not be queried again,
   * or an order has already succeeded.
   */
  toDecide: number;
  /** Number of purchases that another process changed first. */
  changed: number;
}

/** Number of reviews to decide concurrently. */
const chunkSize = 25;

/**
 * Sends every purchase under review back to the workers where possible, oldest first. Operators use
 * it after an outage. Each purchase has one posting with its audit entry. Safe to interrupt and to
 * run again.
 * @param options.sellerId Only purchases whose last order went to this seller. Null means all
 *   purchases.
 */
export async function recheckOpenReviews(
  options: { sellerId: string | null },
  by: ChangedBy,
): Promise<RecheckCounts> {
  const done: RecheckCounts = { asked: 0, toDecide: 0, changed: 0 };
  // A purchase that returns to review during this run waits for the next run.
  const waiting = PurchaseModel.find({ reviewSince: { $type: 'date', $lte: now() } })
    .sort({ reviewSince: 1 })
    .lean<Purchase[]>()
    .cursor({ batchSize: chunkSize });
  for await (const chunk of collectChunks<Purchase>(waiting, chunkSize)) {
    for (const result of await Promise.all(chunk.map((each) => recheckReview(each, options, by)))) {
      if (result !== null) {
        done[result] += 1;
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
