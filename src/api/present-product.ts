import type { PricedProduct } from '../providers/price-list.js';

/** docs/reference/api/products.md */
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

/** The same for its sellers. */
export function presentSellerProduct(shown: PricedProduct) {
  return { ...presentProduct(shown), max_wait_s: shown.product.maxWaitS ?? null };
}
