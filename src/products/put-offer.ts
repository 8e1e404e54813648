import type { ChangedBy } from '../audit/record-audit.js';
import { inTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/changing.js';
import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { createKeyedQueue } from '../shared/one-at-a-time.js';
import { recordOffer } from './record-offer.js';
import { refuseAboveLimit } from './refuse-above-limit.js';
import { OfferModel, type Offer } from './offer.model.js';
import { ProductModel, type Product, type ProductStatus } from './product.model.js';

const runOneAtATime = createKeyedQueue();

/**
 * Makes or changes a seller's offer for a product of the catalogue (decision 013). The owner's offer is the price of
 * its product.
 * @throws NotFoundError (404/02) for an unknown product, or another seller's inactive one.
 * @throws ConflictError (409/01) if the seller sells too many products for a new one.
 */
export async function putOffer(
  input: {
    sellerId: string;
    productCode: string;
    /** Rupiah. */
    price: number;
    status: ProductStatus;
    productLimit: number;
  },
  by: ChangedBy,
): Promise<Offer> {
  const { sellerId, productCode, price, status, productLimit } = input;
  const product = await ProductModel.findById(productCode).lean<Product>();
  if (!product || (product.status === 'inactive' && product.sellerId !== sellerId)) {
    throw new NotFoundError(say('noProduct', { code: productCode }));
  }
  const _id = `${productCode}:${sellerId}`;
  if (!(await OfferModel.findById(_id, { _id: 1 }).lean())) {
    await refuseAboveLimit(sellerId, productLimit, null);
  }
  const write = () =>
    writeAndInvalidate([OfferModel], [productCode], (offers) =>
      inTransaction(async (session) => {
        const before = await offers.findById(_id).session(session).lean<Offer>();
        const after = await offers
          .findOneAndUpdate(
            { _id },
            { $set: { price, status }, $setOnInsert: { productCode, sellerId } },
            { upsert: true, returnDocument: 'after', session },
          )
          .lean<Offer>();
        await recordOffer(session, by, { before, after: { productCode, sellerId, price, status } });
        return after;
      }),
    );
  return runOneAtATime(_id, write);
}
