import type { Change } from '../money/posting/posting.js';
import { now } from '../shared/clock.js';
import { quotes, type Quote } from './quote.model.js';

/**
 * Builds the change that claims a quote for one purchase, in the posting of its debit.
 * Invariant: a quote is paid once, by the condition on `usedBy`.
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
 * Expires the open quotes of an account, as the end of the business day does. The next payment asks
 * for the bill again. A quote claimed by a payment stays, whichever comes first.
 * @returns the number of expired quotes.
 */
export async function endQuotes(accountId: string): Promise<number> {
  const at = now();
  const { modifiedCount } = await quotes.updateMany(
    { accountId, status: 'open', usedBy: null, expiresAt: { $gt: at } },
    { $set: { expiresAt: at } },
  );
  return modifiedCount;
}

/**
 * Returns the bill that the buyer pays: the markup is part of the admin fee and of the total.
 * Rupiah.
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
