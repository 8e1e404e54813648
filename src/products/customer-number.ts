import type { CustomerNumberRule, Product } from './product.model.js';
import { InvalidCustomerNumberError, NotFoundError, ValidationError } from '../shared/errors.js';
import { callerFields, type CallerFields } from '../shared/caller-fields.js';
import { say, type Message } from '../shared/say.js';

/**
 * Normalizes a customer number for storage and responses
 * (docs/reference/api/products.md#customer-numbers). In phone numbers, spaces and dashes are
 * removed, and `+62` or `62` becomes `0`. Other numbers stay as sent.
 * @param kind The kind of the product's rule. Undefined if the product does not exist.
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

/** True if the product is prepaid electricity. */
export function isElectricityToken({
  category,
  customerNumber,
}: Pick<Product, 'category' | 'customerNumber'>): boolean {
  return category === 'prabayar' && customerNumber.kind === 'pln';
}

const anyNumber = /^[0-9A-Za-z.,|@_-]{4,50}$/;

/**
 * Checks a purchase before it is priced, and returns the product. An inactive product is reported
 * as unknown, so that its existence is not revealed.
 *
 * @param wanted.customerNumber The normalized customer number.
 * @param fields The caller's names of the fields, for errors.
 * @throws NotFoundError (404/02) if the product is unknown or inactive.
 * @throws ValidationError (400/01) if the product is of the other kind. The message names the right
 *   call.
 *
 * @throws InvalidCustomerNumberError (422/04) if the number does not match. The message describes
 *   the expected number.
 */
export function requireSellableProduct(
  product: Product | null,
  wanted: { productCode: string; kind: 'prepaid' | 'postpaid'; customerNumber: string },
  fields: CallerFields = callerFields.buyer,
): Product {
  if (!product || product.status === 'inactive') {
    throw new NotFoundError(say('productNotOnSale', { code: wanted.productCode }), {
      reason: 'product_not_found',
    });
  }
  if (wanted.kind === 'prepaid' && product.category === 'pascabayar') {
    refuseProductKind(fields, say('postpaidProduct', { product: product._id }));
  }
  if (wanted.kind === 'postpaid' && product.category === 'prabayar') {
    refuseProductKind(fields, say('prepaidProduct', { product: product._id }));
  }
  const problem = findNumberProblem(product.customerNumber, wanted.customerNumber, fields.customerNumber);
  if (problem) {
    throw new InvalidCustomerNumberError(problem, fields.customerNumber);
  }
  return product;
}

function refuseProductKind({ productCode: field }: CallerFields, message: Message): never {
  throw new ValidationError([{ field, message }], { reason: 'wrong_product_kind' });
}

function findNumberProblem(rule: CustomerNumberRule, number: string, field: string): Message | null {
  switch (rule.kind) {
    case 'phone':
      if (!/^08\d{8,11}$/.test(number)) {
        return say('mobileNumber', { field });
      }
      return rule.prefixes.length === 0 || rule.prefixes.some((prefix) => number.startsWith(prefix))
        ? null
        : say('numberOfOtherOperator', { field, prefixes: rule.prefixes.join(', ') });
    case 'pln':
      return /^\d{11,12}$/.test(number) ? null : say('meterNumber', { field });
    case 'game':
      return /^\d{6,16}([.,|@_-]?\w{1,12})?$/.test(number) ? null : say('playerId', { field });
    case 'bill':
      return /^\d{6,20}$/.test(number) ? null : say('customerId', { field });
    case 'any':
      return anyNumber.test(number) ? null : say('anyNumber', { field });
  }
}
