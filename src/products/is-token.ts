import type { Product } from './product.model.js';

/** Prepaid electricity for a meter. */
export function isElectricityToken({
  category,
  customerNumber,
}: Pick<Product, 'category' | 'customerNumber'>): boolean {
  return category === 'prabayar' && customerNumber.kind === 'pln';
}
