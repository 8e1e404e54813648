import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { runInTransaction } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import type { SellerProduct } from './read-products.js';
import { buildPriceUpdate, OfferModel, type Offer } from './offer.model.js';
import { ProductModel, type Product, type ProductStatus } from './product.model.js';

export interface ProductChange {
  sellerId: string;
  code: string;
  /** Price in rupiah. */
  price?: number | undefined;
  /** See `Offer`. Read only with a price. */
  costAllowed?: number | null | undefined;
  status?: ProductStatus | undefined;
  description?: string | undefined;
  /** Maximum wait in seconds. Null restores the default. */
  maxWaitS?: number | null | undefined;
}

/**
 * Changes a product of its owner. Accepted purchases keep their price and maximum wait.
 * @throws NotFoundError (404/02) for an unknown product, or a product of another seller.
 */
export async function updateProduct(change: ProductChange, by: ChangedBy): Promise<SellerProduct> {
  const { sellerId, code, price, costAllowed, status, description, maxWaitS } = change;
  return writeAndInvalidate([ProductModel, OfferModel], [code], (products, offers) =>
    runInTransaction(async (session) => {
      const product = await products
        .findOneAndUpdate(
          { _id: code, sellerId },
          {
            $set: {
              ...(status && { status }),
              ...(description !== undefined && { description }),
              ...(maxWaitS !== undefined && { maxWaitS }),
            },
          },
          { session, returnDocument: 'before' },
        )
        .lean<Product>();
      const offer = await offers
        .findOneAndUpdate(
          { _id: `${code}:${sellerId}` },
          price === undefined ? { $set: {} } : buildPriceUpdate(price, costAllowed),
          { session, returnDocument: 'before' },
        )
        .lean<Offer>();
      if (!product || !offer) {
        throw new NotFoundError(say('notYourProduct', { code }));
      }
      const before = {
        price: offer.price,
        status: product.status,
        description: product.description,
        maxWaitS: product.maxWaitS ?? null,
      };
      const after = {
        price: price ?? before.price,
        status: status ?? before.status,
        description: description ?? before.description,
        maxWaitS: maxWaitS === undefined ? before.maxWaitS : maxWaitS,
      };
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        const subject = { kind: 'product' as const, id: code };
        await recordAudit(session, { ...by, action: 'product.update', subject, before, after });
      }
      return { product: { ...product, ...after }, price: after.price, status: after.status };
    }),
  );
}
