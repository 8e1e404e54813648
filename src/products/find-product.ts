import { ttlCache } from '../shared/ttl-cache.js';
import { ProductModel, type Product } from './product.model.js';

const byCode = ttlCache((code: string) => ProductModel.findById(code).lean<Product>());

/** A product in whatever status, up to a second old; null if there is none. */
export function findProduct(code: string): Promise<Product | null> {
  return byCode.get(code);
}

export function forgetProduct(code: string): void {
  byCode.drop(code);
}
