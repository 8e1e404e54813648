import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { type Session, runInTransaction } from '../database/mongo.js';
import { buildPriceUpdate, type Offer, OfferModel } from './offer.model.js';
import { ConflictError, NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { createKeyedQueue } from '../shared/concurrency.js';
import { ProductModel, type Product, type ProductStatus } from './product.model.js';

/**
 * Writes the audit entry of an offer, if the offer changed.
 * @param before The offer before the change. Null for a new offer.
 */
export async function recordOffer(
  session: Session,
  by: ChangedBy,
  {
    before,
    after,
  }: { before: Offer | null; after: Pick<Offer, 'productCode' | 'sellerId' | 'price' | 'status'> },
): Promise<void> {
  const { productCode, sellerId, price, status } = after;
  if (before?.price === price && before.status === status) {
    return;
  }
  await recordAudit(session, {
    ...by,
    action: 'offer.put',
    subject: { kind: 'product', id: productCode },
    before: before && { sellerId, price: before.price, status: before.status },
    after: { sellerId, price, status },
  });
}

/**
 * Enforces the product limit of a seller. Concurrent calls may exceed the limit.
 * @throws ConflictError (409/01) if the seller already has the maximum number of products.
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

const runSequentially = createKeyedQueue();

/**
 * Creates or changes a seller's offer for an existing product (decision 013). The owner's offer
 * sets the price of the product.
 * @throws NotFoundError (404/02) for an unknown product, or an inactive product of another seller.
 * @throws ConflictError (409/01) if a new offer exceeds the seller's product limit.
 */
export async function putOffer(
  input: {
    sellerId: string;
    productCode: string;
    /** Price in rupiah. */
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
      runInTransaction(async (session) => {
        const before = await offers.findById(_id).session(session).lean<Offer>();
        const { $set, ...others } = buildPriceUpdate(price);
        const after = await offers
          .findOneAndUpdate(
            { _id },
            { ...others, $set: { ...$set, status }, $setOnInsert: { productCode, sellerId } },
            { upsert: true, returnDocument: 'after', session },
          )
          .lean<Offer>();
        await recordOffer(session, by, { before, after: { productCode, sellerId, price, status } });
        return after;
      }),
    );
  return runSequentially(_id, write);
}
