import { operatorPrefixes } from '../../config/catalogue.js';
import { lookUp } from '../shared/look-up.js';
import type { CustomerNumberRule, Product } from './product.model.js';

/**
 * Which customer numbers a product takes (docs/reference/api/products.md#customer-numbers): decided once, when the product is
 * created.
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
