import type { CustomerNumberRule } from './product.model.js';

/**
 * A customer number as we keep and echo it (docs/reference/api/products.md#customer-numbers): phone numbers lose spaces and
 * dashes, and `+62` or `62` becomes `0`. Everything else stays as it was sent.
 * @param kind That of the product's rule; undefined where there is no such product.
 */
export function normalizeCustomerNumber(
  kind: CustomerNumberRule['kind'] | undefined,
  number: string,
): string {
  if (kind !== 'phone') {
    return number;
  }
  const bare = number.replace(/[\s-]/g, '');
  return bare.replace(/^\+?62/, '0');
}
