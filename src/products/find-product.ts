import { NotFoundError } from '../shared/errors.js';
import { ttlCache } from '../shared/ttl-cache.js';
import { ProductModel, type Product } from './product.model.js';

const byCode = ttlCache((code: string) => ProductModel.findById(code).lean<Product>());

/**
 * A product that can be bought: known and not inactive. Up to a second old.
 * @throws NotFoundError (404/02)
 */
export async function productByCode(code: string): Promise<Product> {
  const product = await byCode.get(code);
  if (!product) {
    throw new NotFoundError(`There is no product ${code}. See the price list.`);
  }
  if (product.status === 'inactive') {
    throw new NotFoundError(`Product ${code} is not sold any more.`);
  }
  return product;
}

export function forgetProduct(code: string): void {
  byCode.drop(code);
}
