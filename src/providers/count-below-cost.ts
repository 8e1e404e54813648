import { getQuickCollection } from '../database/mongo.js';
import { isBelowCost, OfferModel, type Offer } from '../products/offer.model.js';
import { ProductModel, type Product } from '../products/product.model.js';
import { splitIntoChunks } from '../shared/collections.js';

const listMax = 1_000;

/**
 * Counts for each seller the active offers that are not sold because their cost is above their
 * price (`isBelowCost`), up to 1,000 in all. Reads the offers of the sellers in batches.
 * @returns Only sellers with such offers, by id.
 */
export async function countOffersBelowCost(sellerIds: string[]): Promise<Map<string, number>> {
  const fields = { productCode: 1, sellerId: 1, price: 1, cost: 1, costAllowed: 1 };
  const candidates: Pick<Offer, keyof typeof fields>[] = [];
  const active = getQuickCollection(OfferModel).find<Pick<Offer, keyof typeof fields>>(
    { sellerId: { $in: sellerIds }, status: 'active' },
    { projection: fields },
  );
  for await (const offer of active) {
    if (isBelowCost(offer, { category: 'prabayar' }) && candidates.push(offer) === listMax) {
      break;
    }
  }
  const counts = new Map<string, number>();
  for (const some of splitIntoChunks(candidates, 500)) {
    // A bill sets its own price, and a product that nobody sells loses nothing.
    const sold = await getQuickCollection(ProductModel)
      .find<Pick<Product, '_id'>>(
        { _id: { $in: some.map(({ productCode }) => productCode) }, category: 'prabayar', status: 'active' },
        { projection: { _id: 1 } },
      )
      .toArray();
    const codes = new Set(sold.map(({ _id }) => _id));
    for (const { productCode, sellerId } of some) {
      if (codes.has(productCode)) {
        counts.set(sellerId, (counts.get(sellerId) ?? 0) + 1);
      }
    }
  }
  return counts;
}
