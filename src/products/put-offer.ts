import { NotFoundError } from '../shared/errors.js';
import { OfferModel, type Offer } from './offer.model.js';
import { ProductModel, type Product, type ProductStatus } from './product.model.js';

/**
 * Makes or changes a seller's offer for a product of the catalogue (decision 016). The owner's offer is the price of
 * its product.
 * @throws NotFoundError (404/02) for an unknown product, or another seller's inactive one.
 */
export async function putOffer(input: {
  sellerId: string;
  productCode: string;
  /** Rupiah. */
  price: number;
  status: ProductStatus;
}): Promise<Offer> {
  const { sellerId, productCode, price, status } = input;
  const product = await ProductModel.findById(productCode).lean<Product>();
  if (!product || (product.status === 'inactive' && product.sellerId !== sellerId)) {
    throw new NotFoundError(`There is no product ${productCode}.`);
  }
  return OfferModel.findOneAndUpdate(
    { _id: `${productCode}:${sellerId}` },
    { $set: { price, status }, $setOnInsert: { productCode, sellerId } },
    { upsert: true, returnDocument: 'after' },
  ).lean<Offer>();
}
