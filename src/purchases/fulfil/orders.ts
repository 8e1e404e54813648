import { QuoteModel, type Quote } from '../../bills/quote.model.js';
import type { ProviderOrder } from '../../providers/adapter.js';
import { chooseRoute } from '../../providers/choose-route.js';
import { adapterFor } from '../../providers/get-adapter.js';
import { now, nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { inTransaction, isDuplicateKey } from '../../database/mongo.js';
import { AttemptModel, orders, toStored, type Attempt } from '../order.model.js';
import { graceMs } from './enqueue-purchase.js';
import { newAttempt } from './new-order.js';
import { moveTo, StaleTransactionError } from '../states.js';
import { TransactionModel, type Transaction } from '../purchase.model.js';

/** Codes of attempts that certainly never bought anything, so that the same seller may be tried again. */
export const notExecutedCodes: readonly string[] = ['not-sent', 'not-executed'];

/** A sale that is still being sent when its lease ends is asked about by others; see check-attempt.ts. */
const leaseMarginMs = 2_000;
/** A seller that could not be reached is left alone for this long. */
const retryPauseMs = 5_000;

export async function openAttemptOf(transactionId: string): Promise<Attempt | null> {
  return AttemptModel.findOne({ transactionId, open: true }).lean<Attempt>();
}

/** What the provider is asked for. Its reference is ours, never the client's. */
export function orderOf(transaction: Transaction, attempt: Attempt): ProviderOrder {
  return {
    providerRef: attempt._id,
    productCode: transaction.productCode,
    customerNumber: transaction.customerNumber,
    costMax: attempt.offerPrice,
    // A status check must ask for what was sent: a bill's payment and a purchase are different calls.
    billTotal: transaction.kind === 'postpaid' ? transaction.price : null,
    sentAt: attempt.sentAt,
    lastCheckAt: attempt.lastCheckAt,
  };
}

export interface NoRoute {
  noRoute: { code: string; message: string; mayChange: boolean };
}

/**
 * Writes the next attempt (PREPARED, nothing sent): the cheapest seller that can serve within the price debited
 * and has not refused this purchase.
 * @throws StaleTransactionError if another worker wrote one at the same time, or one has bought it already.
 */
export async function prepareNextAttempt(transaction: Transaction): Promise<Attempt | NoRoute> {
  const before = await AttemptModel.find({ transactionId: transaction._id }).sort({ n: 1 }).lean<Attempt[]>();
  if (before.some(({ open, status }) => open || status === 'OK')) {
    throw new StaleTransactionError(`Transaction ${transaction._id} has an attempt that counts`);
  }
  const refused = before.filter((each) => !notExecutedCodes.includes(each.code ?? ''));
  const choice = await chooseRoute({
    productCode: transaction.productCode,
    priceMax: transaction.price,
    preferSellerId: await quotedSeller(transaction),
    excludeSellerIds: sellersToAvoid(before),
  });
  if ('reason' in choice) {
    const last = refused.at(-1);
    return last && refused.length === before.length
      ? { noRoute: { code: last.code ?? '01', message: last.message ?? 'Refused.', mayChange: false } }
      : { noRoute: { code: '03', message: 'No seller can serve this product now.', mayChange: true } };
  }
  const attempt = newAttempt({
    transactionId: transaction._id,
    n: before.length + 1,
    sellerId: choice.sellerId,
    // A bill costs what it says, whatever the seller's offer adds to it.
    offerPrice: transaction.kind === 'postpaid' ? transaction.price : choice.price,
    commissionRate: choice.commissionRate,
    providerKind: choice.providerKind,
  });
  try {
    await orders.insertOne(toStored(attempt));
  } catch (error) {
    if (isDuplicateKey(error)) {
      throw new StaleTransactionError(`Another worker prepared an attempt of ${transaction._id}`);
    }
    throw error;
  }
  return attempt;
}

async function quotedSeller({ quoteId }: Transaction): Promise<string | undefined> {
  return quoteId === null ? undefined : (await QuoteModel.findById(quoteId).lean<Quote>())?.sellerId;
}

/** Whoever refused it, and whoever could not be reached a moment ago. */
function sellersToAvoid(attempts: Attempt[]): string[] {
  const pauseEndsMs = nowMs() - retryPauseMs;
  return attempts
    .filter((each) => !notExecutedCodes.includes(each.code ?? '') || each.updatedAt.getTime() > pauseEndsMs)
    .map((each) => each.sellerId);
}

/**
 * PREPARED -> SENT under a lease, and PENDING -> PROCESSING, in one database transaction and *before* anything
 * goes out: if the process dies now, others ask the provider instead of sending again. The version rises with each
 * attempt, so that whoever still holds an earlier view (a late answer of the last seller, "nobody can serve it")
 * can neither refund nor settle what is on its way now.
 * @returns null if somebody else claimed it first.
 * @throws StaleTransactionError if the transaction has changed since it was read: nothing was claimed.
 */
export async function claimAttempt(
  transaction: Transaction,
  attempt: Attempt,
): Promise<{ transaction: Transaction; attempt: Attempt } | null> {
  const leaseMs = adapterFor(attempt.providerKind).traits.timeoutMs + leaseMarginMs;
  const leaseUntil = new Date(nowMs() + leaseMs);
  const claim = { status: 'SENT' as const, leaseToken: newId(), leaseUntil, sentAt: now(), updatedAt: now() };
  const nextActionAt = new Date(leaseUntil.getTime() + graceMs(transaction.epoch));
  const work = inTransaction(async (session) => {
    const result = await AttemptModel.updateOne(
      { _id: attempt._id, status: 'PREPARED' },
      { $set: claim },
      { session },
    );
    if (result.matchedCount === 0) {
      return null;
    }
    if (transaction.status === 'PENDING') {
      const moved = await moveTo(session, transaction, 'PROCESSING', {
        nextActionAt,
        sellerId: attempt.sellerId,
      });
      return { transaction: moved, attempt: { ...attempt, ...claim } };
    }
    // Another worker may have settled it, or sent another attempt, since it was read: then nothing may go out. The
    // version rises with every sending, so that whoever still holds the older state can settle nothing either.
    const sent = await TransactionModel.updateOne(
      { _id: transaction._id, status: 'PROCESSING', version: transaction.version, reviewSince: null },
      { $set: { nextActionAt, sellerId: attempt.sellerId }, $inc: { version: 1 } },
      { session },
    );
    if (sent.matchedCount === 0) {
      throw new StaleTransactionError(`Transaction ${transaction._id} changed meanwhile`);
    }
    const moved = {
      ...transaction,
      version: transaction.version + 1,
      nextActionAt,
      sellerId: attempt.sellerId,
    };
    return { transaction: moved, attempt: { ...attempt, ...claim } };
  });
  return work.catch(async (error: unknown) => {
    if (error instanceof StaleTransactionError) {
      await dropPrepared(attempt);
    }
    throw error;
  });
}

/** An attempt that was prepared for a purchase that others have settled meanwhile: nothing was sent. */
async function dropPrepared(attempt: Attempt): Promise<void> {
  await AttemptModel.updateOne(
    { _id: attempt._id, status: 'PREPARED' },
    { $set: { status: 'REJECTED', open: false, code: 'not-sent', updatedAt: now() } },
  );
}
