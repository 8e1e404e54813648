import type { PricedProduct } from '../providers/price-list.js';

/** Product, interface 2.2. */
export function presentProduct({ product, price, status }: PricedProduct) {
  return {
    code: product._id,
    name: product.name,
    category: product.category,
    subcategory: product.subcategory,
    operator: product.operator,
    price,
    status,
    description: product.description,
  };
}
