import { NotFoundError } from '../shared/errors.js';
import { ttlCache } from '../shared/ttl-cache.js';
import { ProductModel, type Product } from './product.model.js';

const byCode = ttlCache((code: string) => ProductModel.findById(code).lean<Product>());

/**
 * A product that can be bought: known and not inactive. An inactive one is its seller's alone, so that nobody hears
 * whether there is one. Up to a second old.
 * @throws NotFoundError (404/02)
 */
export async function productByCode(code: string): Promise<Product> {
  const product = await byCode.get(code);
  if (!product || product.status === 'inactive') {
    throw new NotFoundError(`There is no product ${code} on sale. See the price list.`);
  }
  return product;
}

export function forgetProduct(code: string): void {
  byCode.drop(code);
}
