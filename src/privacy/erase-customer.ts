import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { quotes, type Quote } from '../bills/quote.model.js';
import { runInTransaction } from '../database/mongo.js';
import { purchases, type Purchase } from '../purchases/purchase.model.js';
import { DependencyError } from '../shared/errors.js';
import { maskAll, maskNumber } from '../shared/mask.js';
import { endReportsOfErased, maskPurchase, type KeptReason, buildMaskedQuote } from './mask-purchase.js';
import { findCustomer } from './find-customer.js';

const concurrency = 8;

export interface ErasureResult {
  /** Number of purchases whose customer number was masked. */
  purchases: number;
  /** Number of inquiries that were deleted, or masked if they were paid. */
  bills: number;
  /** Number of reports that could contain the customer number and were ended. */
  reports: number;
  /**
   * Purchases and inquiries that still have the customer number. Run the erasure again for these.
   * `transactionId` is null for an unpaid inquiry.
   */
  left: { transactionId: string | null; quoteId: string | null; why: KeptReason }[];
}

/** The result for one purchase or inquiry. */
interface ItemResult {
  left: KeptReason | null;
  purchases: number;
  bills: number;
}

/**
 * Erases a customer number everywhere (docs/explanation/personal-data.md). A purchase that is not
 * final, is under review or has a pending webhook keeps the number until a later run.
 *
 * Safe to run again, even after a crash: erased documents are not found again, and a mark on them
 * ensures that their reports are ended. Documents locked by another database transaction are
 * retried once at the end.
 *
 * The audit log records the start and the result, with only the last digits of the number.
 */
export async function eraseCustomer(number: string, by: ChangedBy): Promise<ErasureResult> {
  const subject = { kind: 'customer' as const, id: maskNumber(number) };
  const note = (after: object) => recordAudit(null, { ...by, action: 'customer.erase', subject, after });
  await note({ state: 'begun' });
  const erased: ErasureResult = { purchases: 0, bills: 0, reports: await endReportsOfErased(), left: [] };
  const blocked = { purchases: [] as Purchase[], quotes: [] as Quote[] };

  const each = async <T extends Purchase | Quote>(
    all: T[],
    erase: (one: T) => Promise<ItemResult>,
    leave: (one: T, why: KeptReason) => void,
  ) => {
    for (let start = 0; start < all.length; start += concurrency) {
      const some = all.slice(start, start + concurrency);
      const results = await Promise.all(some.map((one) => eraseUnlessHeld(() => erase(one))));
      for (const [at, one] of some.entries()) {
        const result = results[at] as ItemResult;
        erased.purchases += result.purchases;
        erased.bills += result.bills;
        if (result.left !== null) {
          leave(one, result.left);
        }
      }
      erased.reports += await endReportsOfErased();
    }
  };
  const leavePurchase = ({ _id }: Purchase, why: KeptReason) =>
    erased.left.push({ transactionId: _id, quoteId: null, why });
  const leaveQuote = ({ _id, usedBy }: Quote, why: KeptReason) => {
    if (!erased.left.some(({ transactionId }) => transactionId !== null && transactionId === usedBy)) {
      erased.left.push({ transactionId: usedBy, quoteId: _id, why });
    }
  };

  for await (const page of findCustomer(number)) {
    await each(page.purchases, erasePurchase, (one, why) => {
      if (why === 'held by a database transaction') {
        blocked.purchases.push(one);
      } else {
        leavePurchase(one, why);
      }
    });
    await each(page.quotes, eraseQuote, (one) => blocked.quotes.push(one));
  }
  await each(blocked.purchases, erasePurchase, leavePurchase);
  await each(blocked.quotes, eraseQuote, leaveQuote);

  const { left, ...counts } = erased;
  await note({ state: left.length === 0 ? 'done' : 'incomplete', ...counts, left: left.length });
  return erased;
}

async function eraseUnlessHeld(erase: () => Promise<ItemResult>): Promise<ItemResult> {
  try {
    return await erase();
  } catch (error) {
    // If MongoDB is unavailable, the next read throws.
    if (error instanceof DependencyError) {
      return { left: 'held by a database transaction', purchases: 0, bills: 0 };
    }
    throw error;
  }
}

async function erasePurchase(purchase: Purchase): Promise<ItemResult> {
  const how = { hide: maskAll, endsReports: true };
  let result = await maskPurchase(purchase, how);
  if (result.left === 'changed meanwhile') {
    const { _id, accountId } = purchase;
    const found = await purchases.findOne({ _id, accountId });
    if (!found || found.proofs) {
      // Another run has masked the purchase.
      return { left: null, purchases: 0, bills: 0 };
    }
    result = await maskPurchase(found, how);
  }
  const { left, bills } = result;
  return { left, purchases: left === null ? 1 : 0, bills };
}

/**
 * Deletes an unpaid inquiry. A paid inquiry is masked with its payment, whose texts are searched
 * for the customer's name. The database transaction fails on a lock instead of waiting.
 */
async function eraseQuote(quote: Quote): Promise<ItemResult> {
  const { _id, accountId, usedBy } = quote;
  return runInTransaction(async (session) => {
    const done = (bills: number): ItemResult => ({ left: null, purchases: 0, bills });
    if (usedBy === null) {
      return done((await quotes.deleteOne({ _id, accountId, usedBy: null }, { session })).deletedCount);
    }
    const payment = await purchases.findOne({ _id: usedBy, accountId }, { session });
    if (payment?.proofSalt !== undefined) {
      // The payment was accepted after the scan had passed the place of its purchase.
      return { left: 'accepted meanwhile' as const, purchases: 0, bills: 0 };
    }
    const { filter, update } = buildMaskedQuote(quote, maskAll);
    return done((await quotes.updateOne(filter, update, { session })).modifiedCount);
  });
}
