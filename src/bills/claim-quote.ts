import type { Change } from '../money/posting/posting.js';
import { now } from '../shared/clock.js';
import { quotes } from './quote.model.js';

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
