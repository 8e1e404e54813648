import type { Change } from '../money/posting/posting.js';
import { now } from '../shared/clock.js';
import { quotes, type Quote } from './quote.model.js';

/**
 * Takes a quote for one purchase, with the posting of its debit.
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
 * Ends the quotes of an account as the end of the business day does: a payment asks for the bill anew. One that a payment has
 * claimed is that payment's, whichever of the two is first. @returns how many.
 */
export async function endQuotes(accountId: string): Promise<number> {
  const at = now();
  const { modifiedCount } = await quotes.updateMany(
    { accountId, status: 'open', usedBy: null, expiresAt: { $gt: at } },
    { $set: { expiresAt: at } },
  );
  return modifiedCount;
}

/** A bill as its buyer pays it: the markup is part of the admin fee, so that bill and fee make the total. Rupiah. */
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
