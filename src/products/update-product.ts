import { NotFoundError } from '../shared/errors.js';
import { inTransaction } from '../database/mongo.js';
import { forgetProduct } from './find-product.js';
import type { SellerProduct } from './list-seller-products.js';
import { OfferModel, type Offer } from './offer.model.js';
import { ProductModel, type Product, type ProductStatus } from './product.model.js';

export interface ProductChange {
  sellerId: string;
  code: string;
  /** Rupiah. */
  price?: number | undefined;
  status?: ProductStatus | undefined;
  description?: string | undefined;
}

/**
 * Changes a seller's own product; any status to any. Purchases that were accepted keep their price.
 * @throws NotFoundError (404/02) for an unknown product, and for one that another seller created.
 */
export async function updateProduct(change: ProductChange): Promise<SellerProduct> {
  const { sellerId, code, price, status, description } = change;
  const changed = await inTransaction(async (session) => {
    const product = await ProductModel.findOneAndUpdate(
      { _id: code, sellerId },
      { $set: { ...(status && { status }), ...(description !== undefined && { description }) } },
      { session, returnDocument: 'after' },
    ).lean<Product>();
    const offer = await OfferModel.findOneAndUpdate(
      { _id: `${code}:${sellerId}` },
      { $set: price === undefined ? {} : { price } },
      { session, returnDocument: 'after' },
    ).lean<Offer>();
    if (!product || !offer) {
      throw new NotFoundError(`You have no product ${code}.`);
    }
    return { product, price: offer.price, status: product.status };
  });
  forgetProduct(code);
  return changed;
}
