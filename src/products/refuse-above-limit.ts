import type { Session } from '../database/mongo.js';
import { ConflictError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { OfferModel } from './offer.model.js';

/**
 * A bound of what lists, routing and price lists have to carry; sales at the same moment may pass it by as many.
 * @throws ConflictError (409/01) if the seller already sells as many products as it may.
 */
export async function refuseAboveLimit(
  sellerId: string,
  limit: number,
  session: Session | null,
): Promise<void> {
  const sold = await OfferModel.countDocuments({ sellerId }).limit(limit).session(session);
  if (sold >= limit) {
    throw new ConflictError(say('productLimit', { sold, limit }), { reason: 'product_limit_reached' });
  }
}
