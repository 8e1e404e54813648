import { getExistingAccount } from '../../accounts/find-account.js';
import { buildAuditEntryInsert, type ChangedBy, bySystem } from '../../audit/record-audit.js';
import { scheduleSellerPosting, buildSellerCreditInsert } from '../../money/credits/seller-credits.js';
import { post } from '../../money/posting/post.js';
import type { Change } from '../../money/posting/posting.js';
import { now, nowMs } from '../../shared/clock.js';
import { announceDeliveries } from '../../webhooks/deliver/delivery-jobs.js';
import { buildDeliveryInserts } from '../../webhooks/new-delivery.js';
import { CaseModel } from '../case.model.js';
import { buildPurchaseDeliveries } from '../purchase-notifications.js';
import type { Purchase } from '../purchase.model.js';
import { buildTransition, StalePurchaseError } from '../states.js';
import { buildTotalsChanges } from '../purchase-totals.js';
import { getAdapter, buildConnection } from '../../providers/get-adapter.js';
import { LateError } from '../../providers/http.js';
import { isTimeKnown } from '../../redis/fleet-clock.js';
import { addJob } from '../../jobs/add-job.js';
import { loadPurchase, type PurchaseData, verifySaleJob } from './fulfilment-jobs.js';
import { checkWithinMs, findOrders, buildProviderOrder, catchLateError } from './orders.js';
import { getOrderKey, OrderModel, type Order } from '../order.model.js';
import { openCase } from './record-cases.js';

/**
 * Reverses a sale, SUCCESS -> REFUNDED. This is the only change after a final state
 * (docs/reference/api/purchases.md). One posting returns the price to the buyer and takes it back
 * from the seller (below zero if needed) and from the commission. It also stores the second
 * callback.
 *
 * Invariant: a purchase is reversed once. The expected version and the unique journal enforce this.
 *
 * @param reversal.message Message for the client.
 * @param reversal.by The operator, or the system if the provider reversed the sale.
 * @param reversal.caseIds Open cases that the reversal closes.
 * @throws StalePurchaseError if the sale was reversed meanwhile. Nothing was written.
 */
export async function reverseSale(
  purchase: Purchase,
  reversal: { message: string; by: ChangedBy; caseIds?: string[] },
): Promise<void> {
  const { _id, accountId, price, sellerId, commissionAmount } = purchase;
  if (sellerId === null || commissionAmount === null) {
    throw new Error(`Transaction ${_id} has no sale to reverse`);
  }
  const [buyer, seller] = await Promise.all([getExistingAccount(accountId), getExistingAccount(sellerId)]);
  const sellerShare = price - commissionAmount;
  const { change, moved } = buildTransition(purchase, 'REFUNDED', { message: reversal.message });
  const { caseIds = [] } = reversal;
  const deliveries = buildPurchaseDeliveries({ purchase: moved, buyer, seller, event: 'reversed' });
  const result = await post({
    accountId,
    kind: 'reversal',
    subjectId: _id,
    wallet: { balance: price },
    lines: [
      { account: `payable:${sellerId}`, amount: -sellerShare },
      { account: 'platform:revenue', amount: -commissionAmount },
      { account: `wallet:${accountId}`, amount: price },
    ],
    changes: [change, ...(caseIds.length > 0 ? [closeCases(caseIds)] : [])],
    totals: buildTotalsChanges(purchase, moved),
    inserts: [
      // This is a negative credit. The posting of seller wallets applies it.
      buildSellerCreditInsert({
        id: `${_id}-reversal`,
        accountId,
        transactionId: _id,
        sellerId,
        amount: -sellerShare,
      }),
      buildAuditEntryInsert({
        ...reversal.by,
        action: 'transaction.reverse',
        subject: { kind: 'transaction', id: _id },
        before: { status: 'SUCCESS' },
        // The audit entry omits the message. The message may name the customer, and it is masked
        // with the purchase.
        after: { status: 'REFUNDED' },
      }),
      ...buildDeliveryInserts(deliveries),
    ],
  });
  if (result.outcome !== 'posted') {
    throw new StalePurchaseError(`Transaction ${_id} changed in the meantime`);
  }
  await Promise.all([announceDeliveries(deliveries), scheduleSellerPosting(sellerId)]);
}

function closeCases(id: string[]): Change {
  const collection = CaseModel.collection.collectionName;
  return { collection, id, expect: { resolvedAt: null }, set: { resolvedAt: now() } };
}

const retryMs = 60_000;
const checksMax = 20;
/** Retry delay in milliseconds after Redis or this process stalls. */
const lateRetryDelayMs = 5_000;

/**
 * Queries the provider again about a sale that it reported as reversed. Only a definite reversal
 * moves money. A plain "failed" after success opens a case. So does a sale with a masked number:
 * the status check would repeat the order with a wrong number and could buy for it.
 *
 * Safe to run twice. The number of checks claims the request, and the reversal expects the state
 * that was read.
 */
export async function verifySale(purchaseId: string, accountId: string): Promise<void> {
  const purchase = await loadPurchase({ purchaseId, accountId });
  const order = purchase && (await findOrders(purchase)).find(({ status }) => status === 'OK');
  if (purchase?.status !== 'SUCCESS' || !order) {
    return;
  }
  if (purchase.proofs) {
    const detail =
      'Sold, but the provider reports a failure. It cannot be queried, because the customer number is masked.';
    await openReversalCase(purchase, detail);
    return;
  }
  const adapter = getAdapter(order.providerKind);
  const lastMs = (order.lastCheckAt ?? order.sentAt)?.getTime() ?? 0;
  const waitMs = lastMs + adapter.traits.inquiryMinIntervalMs - nowMs();
  if (waitMs > 0) {
    await enqueueVerification(purchase, waitMs);
    return;
  }
  // Read the settings before the claim, because a failed read must not count as a check.
  const connection = buildConnection(await getExistingAccount(order.sellerId), order);
  if (!(await isTimeKnown())) {
    await enqueueVerification(purchase, lateRetryDelayMs);
    return;
  }
  const claimedMs = nowMs();
  if (!(await claimVerification(order))) {
    // Another process holds the claim and may release it. No sweep repeats the check, so add a job.
    await enqueueVerification(purchase, retryMs);
    return;
  }
  const request = buildProviderOrder(purchase, order, new Date(claimedMs + checkWithinMs));
  const outcome = await catchLateError(purchase, order, adapter.inquire(connection, request));
  if (outcome instanceof LateError) {
    await releaseVerification(order);
    await enqueueVerification(purchase, lateRetryDelayMs);
    return;
  }
  switch (outcome.outcome) {
    case 'success':
      return;
    case 'reversed':
      await reverseSale(purchase, { message: outcome.message, by: bySystem });
      return;
    case 'refused':
    case 'not-found':
    case 'review':
      await openReversalCase(
        purchase,
        `Sold, but the provider now reports ${outcome.outcome} (${outcome.code}): ${outcome.message}`,
      );
      return;
    case 'pending':
    case 'unknown':
    case 'not-sent':
      await (order.checks < checksMax
        ? enqueueVerification(purchase, retryMs)
        : openReversalCase(purchase, 'Sold; the provider reported a failure and does not confirm it.'));
  }
}

function openReversalCase(purchase: Purchase, detail: string): Promise<void> {
  return openCase({ transactionId: purchase._id, kind: 'reversal', detail }, purchase);
}

/**
 * Opens a case because the verification job keeps failing.
 * @returns True.
 */
export async function setAsideVerification({ purchaseId }: PurchaseData, reason: string): Promise<boolean> {
  await openCase({
    transactionId: purchaseId,
    kind: 'reversal',
    detail: `Sold; the provider reported a failure and could not be queried about it. ${reason}`,
  });
  return true;
}

async function claimVerification(order: Order): Promise<boolean> {
  const result = await OrderModel.updateOne(
    { ...getOrderKey(order), status: 'OK', checks: order.checks, lastCheckAt: order.lastCheckAt },
    { $set: { lastCheckAt: now() }, $inc: { checks: 1 } },
  );
  return result.matchedCount === 1;
}

/** Undoes a claim whose request was not sent. */
async function releaseVerification(order: Order): Promise<void> {
  const { checks, lastCheckAt } = order;
  await OrderModel.updateOne(
    { ...getOrderKey(order), status: 'OK', checks: checks + 1 },
    { $set: { checks, lastCheckAt } },
  );
}

/**
 * Adds the job that verifies a sale. Repeated calls share one waiting job.
 * @throws DependencyError while Redis is unavailable. The provider then repeats its callback.
 */
export function enqueueVerification(
  { _id, accountId, requestId }: { _id: string; accountId: string; requestId?: string },
  delayMs: number,
): Promise<void> {
  return addJob(verifySaleJob, { purchaseId: _id, accountId }, { delayMs, requestId });
}
