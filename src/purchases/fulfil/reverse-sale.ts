import { getExistingAccount } from '../../accounts/find-account.js';
import { auditInsert, type ChangedBy, bySystem } from '../../audit/record-audit.js';
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
 * SUCCESS -> REFUNDED, the one change after a final state (docs/reference/api/purchases.md): the price goes back to the
 * buyer, is taken back from the seller (below zero if need be) and from the platform's commission, in one posting with
 * the second callback.
 * Invariant: once per purchase, by the version that was read and by the unique journal.
 * @param reversal.message Words for the client. `by`: the system (the provider took it back), or the operator.
 *   `caseIds`: open cases that are closed by it.
 * @throws StalePurchaseError if somebody reversed it meanwhile: nothing was written.
 */
export async function reverseSale(
  purchase: Purchase,
  reversal: { message: string; by: ChangedBy; caseIds?: string[] },
): Promise<void> {
  const { _id, accountId, price, sellerId, commissionAmount } = purchase;
  if (sellerId === null || commissionAmount === null) {
    throw new Error(`Transaction ${_id} was never sold`);
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
      // A negative credit: the posting of seller wallets takes it from there.
      buildSellerCreditInsert({
        id: `${_id}-reversal`,
        accountId,
        transactionId: _id,
        sellerId,
        amount: -sellerShare,
      }),
      auditInsert({
        ...reversal.by,
        action: 'transaction.reverse',
        subject: { kind: 'transaction', id: _id },
        before: { status: 'SUCCESS' },
        // Not the words: they may name the customer, and stay with the purchase until it is masked.
        after: { status: 'REFUNDED' },
      }),
      ...buildDeliveryInserts(deliveries),
    ],
  });
  if (result.outcome !== 'posted') {
    throw new StalePurchaseError(`Transaction ${_id} changed meanwhile`);
  }
  await Promise.all([announceDeliveries(deliveries), scheduleSellerPosting(sellerId)]);
}

function closeCases(id: string[]): Change {
  const collection = CaseModel.collection.collectionName;
  return { collection, id, expect: { resolvedAt: null }, set: { resolvedAt: now() } };
}

const retryMs = 60_000;
const checksMax = 20;
/** Redis stalled, or we did. */
const afterLateMs = 5_000;

/**
 * Asks the provider once more about a sale that it says it took back. Only a status that is a reversal by itself
 * moves money; a plain "failed" after success goes to the operator, and so does a sale whose number is masked: a status check
 * is the order again, and one for another number could be bought. Safe to run twice: the question is claimed by
 * the number of checks, and the reversal by the state that was read.
 */
export async function verifySale(purchaseId: string, accountId: string): Promise<void> {
  const purchase = await loadPurchase({ purchaseId, accountId });
  const order = purchase && (await findOrders(purchase)).find(({ status }) => status === 'OK');
  if (purchase?.status !== 'SUCCESS' || !order) {
    return;
  }
  if (purchase.proofs) {
    const detail =
      'Sold; the provider tells of a failure. It is not asked, because the customer number is masked.';
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
  // Before the claim, as in check-order.ts.
  const connection = buildConnection(await getExistingAccount(order.sellerId), order);
  if (!(await isTimeKnown())) {
    await enqueueVerification(purchase, afterLateMs);
    return;
  }
  const claimedMs = nowMs();
  if (!(await claimVerification(order))) {
    // Whoever claimed it may take it back, and no sweep would ask again.
    await enqueueVerification(purchase, retryMs);
    return;
  }
  const request = buildProviderOrder(purchase, order, new Date(claimedMs + checkWithinMs));
  const outcome = await catchLateError(purchase, order, adapter.inquire(connection, request));
  if (outcome instanceof LateError) {
    await releaseVerification(order);
    await enqueueVerification(purchase, afterLateMs);
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
        `Sold, but the provider now says ${outcome.outcome} (${outcome.code}): ${outcome.message}`,
      );
      return;
    case 'pending':
    case 'unknown':
    case 'not-sent':
      await (order.checks < checksMax
        ? enqueueVerification(purchase, retryMs)
        : openReversalCase(purchase, 'Sold; the provider told of a failure and does not confirm it.'));
  }
}

function openReversalCase(purchase: Purchase, detail: string): Promise<void> {
  return openCase({ transactionId: purchase._id, kind: 'reversal', detail }, purchase);
}

/** The job that should have asked fails again and again: a person looks the sale up. */
export async function setAsideVerification({ purchaseId }: PurchaseData, reason: string): Promise<boolean> {
  await openCase({
    transactionId: purchaseId,
    kind: 'reversal',
    detail: `Sold; the provider told of a failure, and could not be asked about it. ${reason}`,
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

/** Nobody was asked. */
async function releaseVerification(order: Order): Promise<void> {
  const { checks, lastCheckAt } = order;
  await OrderModel.updateOne(
    { ...getOrderKey(order), status: 'OK', checks: checks + 1 },
    { $set: { checks, lastCheckAt } },
  );
}

/**
 * Adds the job that verifies a sale; however often it is asked for, one waits.
 * @throws DependencyError while Redis is away: the provider will call again.
 */
export function enqueueVerification(
  { _id, accountId, requestId }: { _id: string; accountId: string; requestId?: string },
  delayMs: number,
): Promise<void> {
  return addJob(verifySaleJob, { purchaseId: _id, accountId }, { delayMs, requestId });
}
