import type { Change } from '../money/posting/posting.js';
import { now } from '../shared/clock.js';
import { quotes, type Quote } from './quote.model.js';

/**
 * Builds the change that claims a quote for one purchase, in the posting of its debit.
 *
 * Invariant: a quote is paid once. The condition on `usedBy` enforces this.
 */
export function buildQuoteClaim(quoteId: string, purchaseId: string): Change {
  return {
    collection: quotes.collectionName,
    id: quoteId,
    expect: { status: 'open', usedBy: null, expiresAt: { $gt: now() } },
    set: { usedBy: purchaseId },
  };
}

/**
 * Expires the open quotes of an account, like the end of the business day does. The next payment
 * makes a new inquiry. A quote that a payment claims concurrently either stays claimed or expires,
 * never both.
 * @returns The number of expired quotes.
 */
export async function expireQuotes(accountId: string): Promise<number> {
  const at = now();
  const { modifiedCount } = await quotes.updateMany(
    { accountId, status: 'open', usedBy: null, expiresAt: { $gt: at } },
    { $set: { expiresAt: at } },
  );
  return modifiedCount;
}

/**
 * Returns the bill that the buyer pays, in rupiah. The markup is part of the admin fee and of the
 * total.
 */
export function toChargedBill<T extends Pick<Quote, 'adminFee' | 'totalAmount' | 'markup'>>({
  adminFee,
  totalAmount,
  markup = 0,
}: T): Pick<T, 'adminFee' | 'totalAmount'> {
  return {
    adminFee: adminFee === null ? null : adminFee + markup,
    totalAmount: totalAmount === null ? null : totalAmount + markup,
  };
}
