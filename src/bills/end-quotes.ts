import { now } from '../shared/clock.js';
import { quotes } from './quote.model.js';

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
