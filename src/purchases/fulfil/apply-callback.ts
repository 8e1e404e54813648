import type { ProviderSettings } from '../../accounts/account.model.js';
import type { ProviderConnection, ProviderOutcome } from '../../providers/adapter.js';
import { getAdapter } from '../../providers/get-adapter.js';
import { now, nowMs } from '../../shared/clock.js';
import { getOrderKey, OrderModel, type Order } from '../order.model.js';
import { StalePurchaseError } from '../states.js';
import { applyOutcome } from './apply-outcome.js';
import { loadPurchase, requestCheckNow } from './fulfilment-jobs.js';
import { buildProviderOrder } from './orders.js';

/** Another process may change the purchase while the outcome is applied. It is then read again. */
const triesMax = 3;

/** A callback whose signature is valid with `connection`, the current settings of the seller. */
export interface SignedCallback {
  raw: Buffer;
  connection: ProviderConnection;
  provider: ProviderSettings;
}

/**
 * Applies the outcome of a signed callback to its open order, if it is final (decision 018). The
 * rules are those of a response to a status check: see `applyOutcome`.
 *
 * Safe to run twice and concurrently with a check: the posting expects the order to be open and the
 * purchase as it was read.
 *
 * @returns False if nothing was applied. The callback then only triggers a status check.
 */
export async function applyCallback(
  { _id, accountId, transactionId }: Order,
  callback: SignedCallback,
): Promise<boolean> {
  for (let tries = 0; tries < triesMax; tries++) {
    const [purchase, order] = await Promise.all([
      loadPurchase({ purchaseId: transactionId, accountId }),
      OrderModel.findOne(getOrderKey({ _id, accountId })).lean<Order>(),
    ]);
    if (purchase?.status !== 'PROCESSING' || purchase.reviewSince !== null || !order) {
      return false;
    }
    if (!order.open || order.neverAskAgain || !isSentToSystem(order, callback)) {
      return false;
    }
    const asked = buildProviderOrder(purchase, order, now());
    const { readCallbackOutcome } = getAdapter(order.providerKind);
    const outcome = readCallbackOutcome?.(callback.raw, asked, callback.connection) ?? null;
    if (!outcome || !isApplicable(outcome, order)) {
      return false;
    }
    try {
      if ((await applyOutcome(purchase, order, outcome)) === 'again') {
        await requestCheckNow(purchase);
      }
      return true;
    } catch (error) {
      if (!(error instanceof StalePurchaseError)) {
        throw error;
      }
    }
  }
  return false;
}

/**
 * A success needs a serial number: a bill inquiry under the same reference is also a success, and has
 * none. A refusal waits for a request in flight, which the provider may still execute.
 */
function isApplicable(outcome: ProviderOutcome, { leaseUntil }: Order): boolean {
  switch (outcome.outcome) {
    case 'success':
      return outcome.serialNumber !== null;
    case 'refused':
      return leaseUntil === null || leaseUntil.getTime() <= nowMs();
    default:
      return false;
  }
}

/**
 * True if the order was sent to the system whose secret signed the callback. Callbacks need a secret
 * of their own, because the secret of the calls also signs requests with MD5.
 */
function isSentToSystem(order: Order, { provider, connection }: SignedCallback): boolean {
  return (
    Boolean(connection.callbackSecret) &&
    provider.kind === order.providerKind &&
    provider.baseUrl === order.providerBaseUrl &&
    provider.username === order.providerUsername
  );
}
