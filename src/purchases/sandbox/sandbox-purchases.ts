import type { Account } from '../../accounts/account.model.js';
import { getExistingAccount } from '../../accounts/find-account.js';
import { requireSandbox } from '../../accounts/effective-settings.js';
import { addJob, addJobs } from '../../jobs/add-job.js';
import type { SimulatedEnd } from '../../providers/adapter.js';
import { findConfirmed } from '../../database/find-confirmed.js';
import { getAdapter, buildConnection } from '../../providers/get-adapter.js';
import { ConflictError, MaintenanceError } from '../../shared/errors.js';
import { say, type Message } from '../../shared/say.js';
import { findPurchase } from '../find-purchase.js';
import { askProviderJob } from '../fulfil/fulfilment-jobs.js';
import { findOrders } from '../fulfil/orders.js';
import { enqueueVerification } from '../fulfil/reverse-sale.js';
import type { Order } from '../order.model.js';
import { type Purchase, type PurchaseStatus, purchases } from '../purchase.model.js';
import { isFinal } from '../states.js';

const statusesByEnd = {
  success: 'SUCCESS',
  failed: 'FAILED',
  reversed: 'REFUNDED',
} as const satisfies Record<SimulatedEnd, PurchaseStatus>;

export interface EndedPurchase {
  purchase: Purchase;
  /**
   * True if the purchase has reached the requested end. If false, it reaches that end when the
   * worker next queries its provider.
   */
  isEnded: boolean;
}

/**
 * Sets the end of a purchase in the simulator and makes the worker query the simulator at once
 * (decision 033). The worker then handles the response like one from a real provider. This function
 * does not write to the purchase. Repeated calls are harmless. Of two different ends, the first one
 * wins.
 *
 * @throws ForbiddenError outside a sandbox.
 * @throws NotFoundError if the account has no such purchase.
 * @throws ConflictError (`end_not_possible`) if the purchase has another end, or is not at the
 *   simulator.
 * @throws MaintenanceError if the simulator does not respond.
 *
 * @throws DependencyError while Redis is unavailable.
 */
export async function endPurchase(
  account: Account,
  idOrRef: string,
  end: SimulatedEnd,
): Promise<EndedPurchase> {
  requireSandbox(account);
  // Read the orders first, then the purchase with causal consistency. An order and its purchase end
  // in one database transaction. So an order that just ended is not mistaken for one that was never
  // sent.
  const orders = await findOrders(await findPurchase(account._id, idOrRef));
  const purchase = await findPurchase(account._id, idOrRef, findConfirmed);
  if (purchase.status === statusesByEnd[end]) {
    return { purchase, isEnded: true };
  }
  const order = findOrderToEnd(purchase, orders, end);
  await endAtProvider(order, end);
  const { _id: purchaseId, accountId, requestId } = purchase;
  await (end === 'reversed'
    ? enqueueVerification(purchase, 0)
    : addJob(askProviderJob, { purchaseId, accountId, askNow: true }, { requestId }));
  const now = await findPurchase(account._id, purchaseId);
  return { purchase: now, isEnded: now.status === statusesByEnd[end] };
}

/** Returns the order to which the requested end applies. */
function findOrderToEnd(purchase: Purchase, orders: Order[], end: SimulatedEnd): Order {
  const isReversal = end === 'reversed';
  if (isReversal ? purchase.status !== 'SUCCESS' : isFinal(purchase.status)) {
    throw buildNotPossibleError(isReversal ? say('onlySuccessReversed') : say('hasEnded'));
  }
  if (purchase.reviewSince !== null || purchase.proofs) {
    throw buildNotPossibleError(say('endIsOperators'));
  }
  const order = orders.find((each) => (isReversal ? each.status === 'OK' : each.open));
  if (!order) {
    throw buildNotPossibleError(say('notAtProvider'));
  }
  if (order.providerKind !== 'simulator') {
    throw buildNotPossibleError(say('notAtSimulator'));
  }
  return order;
}

async function endAtProvider(order: Order, end: SimulatedEnd): Promise<void> {
  const connection = buildConnection(await getExistingAccount(order.sellerId), order);
  const result = await getAdapter(order.providerKind).endOrder?.(connection, { providerRef: order._id, end });
  switch (result) {
    case 'ended':
      return;
    case 'unavailable':
      throw new MaintenanceError(say('simulatorSilent'), 3, 'biller_unavailable');
    case 'refused':
    case undefined:
      throw buildNotPossibleError(say('simulatorRefusesEnd'));
  }
}

function buildNotPossibleError(why: Message): ConflictError {
  return new ConflictError(why, { reason: 'end_not_possible' });
}

/** Maximum number of purchases per call. The next call finds more. */
const purchasesMax = 500;

/**
 * Makes workers check the open purchases of an account now. Sent orders are checked, and purchases
 * without a seller look for one. Nothing is sent twice. Purchases under review are skipped.
 * @returns The number of purchases.
 * @throws DependencyError while Redis is unavailable.
 */
export async function checkOpenPurchases(accountId: string): Promise<number> {
  const open = await purchases
    .find({ accountId, status: { $in: ['PENDING', 'PROCESSING'] }, reviewSince: null })
    .project<{ _id: string }>({ _id: 1 })
    .limit(purchasesMax)
    .toArray();
  await addJobs(
    askProviderJob,
    open.map(({ _id: purchaseId }) => ({ purchaseId, accountId, askNow: true })),
  );
  return open.length;
}
