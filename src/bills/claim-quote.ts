import { now } from '../shared/clock.js';
import type { Session } from '../database/mongo.js';
import { QuoteModel } from './quote.model.js';

/** The quote was paid by another purchase, or its day is over. Nothing was debited: ask for the bill again. */
export class QuoteGoneError extends Error {}

/**
 * Takes a quote for one purchase, within the database transaction of its debit.
 * Invariant: a quote is paid once, by the condition on `usedBy`.
 * @throws QuoteGoneError
 */
export async function claimQuote(session: Session, quoteId: string, purchaseId: string): Promise<void> {
  const result = await QuoteModel.updateOne(
    { _id: quoteId, status: 'open', usedBy: null, expiresAt: { $gt: now() } },
    { $set: { usedBy: purchaseId } },
    { session },
  );
  if (result.matchedCount === 0) {
    throw new QuoteGoneError(`Quote ${quoteId} is gone`);
  }
}
