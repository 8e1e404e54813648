import { adapterFor, connectionOf } from '../../providers/get-adapter.js';
import type { ProviderOutcome } from '../../providers/adapter.js';
import { accountById } from '../../accounts/find-account.js';
import { nowMs } from '../../shared/clock.js';
import { applyOutcome, type Next } from './apply-outcome.js';
import { claimAttempt, openAttemptOf, orderOf, prepareNextAttempt } from './orders.js';
import type { Attempt } from '../order.model.js';
import { checkAttempt } from './check-order.js';
import { postpone } from './postpone.js';
import { settleFailure } from './conclude-failure.js';
import { isFinal, StaleTransactionError } from '../states.js';
import { TransactionModel, type Transaction } from '../purchase.model.js';

/** A purchase that nobody can serve for this long is given back. */
const waitForRouteMs = 10 * 60_000;
const retryRouteMs = 10_000;

/**
 * Takes an accepted purchase to a provider and onwards (money.md, "The fulfilment worker"). Every job of every
 * queue that concerns a purchase ends here; it is safe to run twice, at once, and after any crash, because each
 * step is a conditional write that only one caller can win.
 * @param options.askNow The provider called about it: ask before the schedule would.
 */
export async function fulfilPurchase(
  transactionId: string,
  options: { askNow: boolean } = { askNow: false },
): Promise<void> {
  let next: Next = 'again';
  while (next === 'again') {
    try {
      next = await takeStep(transactionId, options);
    } catch (error) {
      if (!(error instanceof StaleTransactionError)) {
        throw error;
      }
      // Somebody else moved it: look again, and most likely there is nothing left to do.
    }
  }
}

async function takeStep(transactionId: string, options: { askNow: boolean }): Promise<Next> {
  const transaction = await TransactionModel.findById(transactionId).lean<Transaction>();
  if (!transaction || isFinal(transaction.status) || transaction.reviewSince !== null) {
    return 'done';
  }
  const open = await openAttemptOf(transactionId);
  if (open && open.status !== 'PREPARED') {
    // It may have reached the provider. Ask; never send it again.
    return checkAttempt(transaction, open, options);
  }
  const attempt = open ?? (await prepareNextAttempt(transaction));
  if ('noRoute' in attempt) {
    return waitOrGiveBack(transaction, attempt.noRoute);
  }
  const claimed = await claimAttempt(transaction, attempt);
  if (!claimed) {
    // Another worker won it between our read and our write.
    return 'done';
  }
  const outcome = await buy(claimed.transaction, claimed.attempt);
  return applyOutcome(claimed.transaction, claimed.attempt, outcome);
}

async function buy(transaction: Transaction, attempt: Attempt): Promise<ProviderOutcome> {
  const adapter = adapterFor(attempt.providerKind);
  const connection = connectionOf(await accountById(attempt.sellerId));
  const order = orderOf(transaction, attempt);
  return transaction.kind === 'postpaid'
    ? adapter.payBill(connection, { ...order, billTotal: transaction.price })
    : adapter.buy(connection, order);
}

/** Nobody can serve it now. A refusal that stands, or ten minutes of nobody, gives the money back. */
async function waitOrGiveBack(
  transaction: Transaction,
  noRoute: { code: string; message: string; mayChange: boolean },
): Promise<Next> {
  if (noRoute.mayChange && nowMs() - transaction.createdAt.getTime() < waitForRouteMs) {
    await postpone(transaction, retryRouteMs);
    return 'done';
  }
  await settleFailure(transaction, null, { code: noRoute.code, message: noRoute.message });
  return 'done';
}
