import type { Account } from '../../accounts/account.model.js';
import { getExistingAccount } from '../../accounts/find-account.js';
import { requireSandbox } from '../../accounts/effective-settings.js';
import { addJob, addJobs } from '../../jobs/add-job.js';
import type { PlayedEnd } from '../../providers/adapter.js';
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
} as const satisfies Record<PlayedEnd, PurchaseStatus>;

export interface EndedPurchase {
  purchase: Purchase;
  /** It has the end that was asked for; otherwise it will as soon as its provider was asked. */
  isEnded: boolean;
}

/**
 * Ends a purchase of the account at the simulator, and has the simulator asked about it at once: what follows is done by
 * the worker whom a real provider's answer would have reached (decision 033). Nothing of the purchase is written here.
 * Asking for the same end again does no harm; of two different ones the first holds.
 * @throws ForbiddenError outside of a sandbox. @throws NotFoundError, also for another account's.
 * @throws ConflictError (`end_not_possible`): it has another end, or is not with the simulator.
 * @throws MaintenanceError where the simulator does not answer, DependencyError while Redis is away.
 */
export async function endPurchase(account: Account, idOrRef: string, end: PlayedEnd): Promise<EndedPurchase> {
  requireSandbox(account);
  // Read the orders first, and then the purchase causally after them: an order and its purchase end in one transaction, so an
  // order that has just ended is not taken for one that was never sent.
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

/** The order whose end it would be. */
function findOrderToEnd(purchase: Purchase, orders: Order[], end: PlayedEnd): Order {
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

async function endAtProvider(order: Order, end: PlayedEnd): Promise<void> {
  const connection = buildConnection(await getExistingAccount(order.sellerId), order);
  const told = await getAdapter(order.providerKind).endOrder?.(connection, { providerRef: order._id, end });
  switch (told) {
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

/** Of one call; more are found by the next. */
const purchasesMax = 500;

/**
 * Has workers look at the open purchases of an account now, before the schedule would: an order that was sent is asked about, one
 * without a seller looks for one. They do what they would do later, and nothing is sent twice. What waits for a person is left to
 * him. @returns how many. @throws DependencyError while Redis is away.
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
