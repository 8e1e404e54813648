import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { quotes, type Quote } from '../bills/quote.model.js';
import { inTransaction } from '../database/mongo.js';
import { purchases, type Purchase } from '../purchases/purchase.model.js';
import { DependencyError } from '../shared/errors.js';
import { maskAll, maskNumber } from '../shared/mask.js';
import { endReportsOfErased, maskPurchase, type KeptReason, buildMaskedQuote } from './mask-purchase.js';
import { findCustomer } from './find-customer.js';

const atOnce = 8;

export interface Erased {
  /** Purchases that lost the number. */
  purchases: number;
  /** Inquiries that were removed, or lost number and name where they were paid. */
  bills: number;
  /** Reports that could hold it, and have ended. */
  reports: number;
  /** What keeps the number for now: run it again then. Of an inquiry that nobody paid the id of its own. */
  left: { transactionId: string | null; quoteId: string | null; why: KeptReason }[];
}

/** What became of one purchase or inquiry. */
interface Result {
  left: KeptReason | null;
  purchases: number;
  bills: number;
}

/**
 * Erases a customer number wherever it is kept (docs/explanation/personal-data.md), all of it and not only its beginning. What is not final, under
 * review or being told keeps it until it is asked for again. Safe to run again, also after it was killed: what is erased is
 * not found any more, and says itself that its reports have to end. What another database transaction holds on to, such
 * as that of a run that was killed, is tried a second time at the end. The audit log says that it began and what came of
 * it, and shows the last digits alone.
 */
export async function eraseCustomer(number: string, by: ChangedBy): Promise<Erased> {
  const subject = { kind: 'customer' as const, id: maskNumber(number) };
  const note = (after: object) => recordAudit(null, { ...by, action: 'customer.erase', subject, after });
  await note({ state: 'begun' });
  const erased: Erased = { purchases: 0, bills: 0, reports: await endReportsOfErased(), left: [] };
  const held = { purchases: [] as Purchase[], quotes: [] as Quote[] };

  const each = async <T extends Purchase | Quote>(
    all: T[],
    erase: (one: T) => Promise<Result>,
    leave: (one: T, why: KeptReason) => void,
  ) => {
    for (let start = 0; start < all.length; start += atOnce) {
      const some = all.slice(start, start + atOnce);
      const results = await Promise.all(some.map((one) => eraseUnlessHeld(() => erase(one))));
      for (const [at, one] of some.entries()) {
        const result = results[at] as Result;
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
        held.purchases.push(one);
      } else {
        leavePurchase(one, why);
      }
    });
    await each(page.quotes, eraseQuote, (one) => held.quotes.push(one));
  }
  await each(held.purchases, erasePurchase, leavePurchase);
  await each(held.quotes, eraseQuote, leaveQuote);

  const { left, ...counts } = erased;
  await note({ state: left.length === 0 ? 'done' : 'incomplete', ...counts, left: left.length });
  return erased;
}

async function eraseUnlessHeld(erase: () => Promise<Result>): Promise<Result> {
  try {
    return await erase();
  } catch (error) {
    // Where MongoDB is away, the next read says so.
    if (error instanceof DependencyError) {
      return { left: 'held by a database transaction', purchases: 0, bills: 0 };
    }
    throw error;
  }
}

async function erasePurchase(purchase: Purchase): Promise<Result> {
  const how = { hide: maskAll, endsReports: true };
  let result = await maskPurchase(purchase, how);
  if (result.left === 'changed meanwhile') {
    const { _id, accountId } = purchase;
    const found = await purchases.findOne({ _id, accountId });
    if (!found || found.proofs) {
      // Another run has done it.
      return { left: null, purchases: 0, bills: 0 };
    }
    result = await maskPurchase(found, how);
  }
  const { left, bills } = result;
  return { left, purchases: left === null ? 1 : 0, bills };
}

/**
 * Whoever wants to pay an inquiry that went makes a new one. A paid one goes with its payment, which is looked through for the
 * name in it. In a database transaction, so that it waits for no other.
 */
async function eraseQuote(quote: Quote): Promise<Result> {
  const { _id, accountId, usedBy } = quote;
  return inTransaction(async (session) => {
    const done = (bills: number): Result => ({ left: null, purchases: 0, bills });
    if (usedBy === null) {
      return done((await quotes.deleteOne({ _id, accountId, usedBy: null }, { session })).deletedCount);
    }
    const payment = await purchases.findOne({ _id: usedBy, accountId }, { session });
    if (payment?.proofSalt !== undefined) {
      // Where it is not among those that were left, the walk had passed before it was there.
      return { left: 'accepted meanwhile' as const, purchases: 0, bills: 0 };
    }
    const { filter, update } = buildMaskedQuote(quote, maskAll);
    return done((await quotes.updateOne(filter, update, { session })).modifiedCount);
  });
}
