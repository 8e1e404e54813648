import { operatorPrefixes } from '../../config/catalogue.js';
import { lookUp } from '../shared/collections.js';
import { type CustomerNumberRule, type Product, ProductModel } from './product.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { now } from '../shared/clock.js';
import { ConflictError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { runInTransaction, isDuplicateKey } from '../database/mongo.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { refuseAboveLimit } from './put-offer.js';
import { OfferModel, type Offer } from './offer.model.js';
import type { SellerProduct } from './read-products.js';

/**
 * Returns the customer number rule of a product (docs/reference/api/products.md#customer-numbers).
 * The rule is set once, when the product is created.
 */
export function getCustomerNumberRule(
  product: Pick<Product, 'category' | 'subcategory' | 'operator'>,
): CustomerNumberRule {
  if (product.category === 'pascabayar') {
    return { kind: 'bill' };
  }
  switch (product.subcategory.toLowerCase()) {
    case 'pulsa':
    case 'data':
      return { kind: 'phone', prefixes: lookUp(operatorPrefixes, product.operator ?? '') ?? [] };
    case 'pln':
      return { kind: 'pln' };
    case 'games':
    case 'game':
      return { kind: 'game' };
    default:
      return { kind: 'any' };
  }
}

export interface NewProduct {
  sellerId: string;
  code: string;
  name: string;
  category: Product['category'];
  subcategory: string;
  operator: string | null;
  /** Price in rupiah. */
  price: number;
  status: 'active' | 'inactive';
  /** Maximum wait in seconds. Null sets the default. */
  maxWaitS: number | null;
  productLimit: number;
}

/**
 * Creates a product, with its seller's price as the first offer (decision 013).
 * @throws ConflictError (409/01) if the code is taken, even by an identical product, or if the
 *   seller has too many products.
 */
export async function createProduct(input: NewProduct, by: ChangedBy): Promise<SellerProduct> {
  const at = now();
  const { sellerId, code, name, category, subcategory, operator, price, status, maxWaitS } = input;
  const product: Product = {
    _id: code,
    sellerId,
    name,
    category,
    subcategory,
    operator,
    status,
    description: null,
    customerNumber: getCustomerNumberRule({ category, subcategory, operator }),
    cutOff: null,
    maxWaitS,
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
    await writeAndInvalidate([ProductModel, OfferModel], [code], (products, offers) =>
      runInTransaction(async (session) => {
        await refuseAboveLimit(sellerId, input.productLimit, session);
        await products.create([product], { session });
        await offers.create([offer], { session });
        await recordAudit(session, {
          ...by,
          action: 'product.create',
          subject: { kind: 'product', id: code },
          after: { sellerId, name, category, subcategory, operator, price, status, maxWaitS },
        });
      }),
    );
  } catch (error) {
    if (isDuplicateKey(error)) {
      const message = say('productCodeTaken', { code });
      throw new ConflictError(message, {
        reason: 'product_code_taken',
        cause: error,
        errors: [{ field: 'code', message }],
      });
    }
    throw error;
  }
  return { product, price, status };
}
