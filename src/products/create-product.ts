import { now } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { inTransaction, isDuplicateKey } from '../database/mongo.js';
import { customerNumberRuleOf } from './customer-number-rule.js';
import { forgetProduct } from './find-product.js';
import { OfferModel, type Offer } from './offer.model.js';
import type { SellerProduct } from './list-seller-products.js';
import { ProductModel, type Product } from './product.model.js';

export interface NewProduct {
  sellerId: string;
  code: string;
  name: string;
  category: Product['category'];
  subcategory: string;
  operator: string | null;
  /** Rupiah. */
  price: number;
  status: 'active' | 'inactive';
}

/**
 * Adds a product to the catalogue, with its creator's price as the first offer (decision 016).
 * @throws ConflictError (409/01) if the code is taken, also by the same product.
 */
export async function createProduct(input: NewProduct): Promise<SellerProduct> {
  const at = now();
  const { sellerId, code, name, category, subcategory, operator, price, status } = input;
  const product: Product = {
    _id: code,
    sellerId,
    name,
    category,
    subcategory,
    operator,
    status,
    description: null,
    customerNumber: customerNumberRuleOf({ category, subcategory, operator }),
    cutOff: null,
    createdAt: at,
    updatedAt: at,
  };
  const offer: Offer = {
    _id: `${code}:${sellerId}`,
    productCode: code,
    sellerId,
    price,
    status: 'active',
    createdAt: at,
    updatedAt: at,
  };
  try {
    await inTransaction(async (session) => {
      await ProductModel.create([product], { session });
      await OfferModel.create([offer], { session });
    });
  } catch (error) {
    if (isDuplicateKey(error)) {
      const message = `The product code ${code} is taken. Use another one, or make an offer for it.`;
      throw new ConflictError(message, { cause: error, errors: [{ field: 'code', message }] });
    }
    throw error;
  }
  forgetProduct(code);
  return { product, price, status };
}
