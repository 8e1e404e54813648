import { InvalidCustomerNumberError, NotFoundError, ValidationError } from '../shared/errors.js';
import type { CustomerNumberRule, Product } from './product.model.js';

const anyNumber = /^[0-9A-Za-z.,|@_-]{4,50}$/;

/**
 * Checks what is asked for before it is priced. An inactive product is its seller's alone, so that nobody hears whether
 * there is one.
 * @param wanted.customerNumber Normalised.
 * @returns the product.
 * @throws NotFoundError (404/02); ValidationError (400/01) that names the right call for the other kind of product;
 *   InvalidCustomerNumberError (422/04) that says what the number should look like.
 */
export function checkItem(
  product: Product | null,
  wanted: { productCode: string; kind: 'prepaid' | 'postpaid'; customerNumber: string },
): Product {
  if (!product || product.status === 'inactive') {
    throw new NotFoundError(
      `There is no product ${wanted.productCode} on sale. See the price list.`,
      'product_not_found',
    );
  }
  if (wanted.kind === 'prepaid' && product.category === 'pascabayar') {
    refuse(`${product._id} is a postpaid product: use POST /api/buyer/inquiry and POST /api/buyer/payment`);
  }
  if (wanted.kind === 'postpaid' && product.category === 'prabayar') {
    refuse(`${product._id} is a prepaid product: use POST /api/buyer/transaction`);
  }
  const problem = problemOf(product.customerNumber, wanted.customerNumber);
  if (problem) {
    throw new InvalidCustomerNumberError(problem);
  }
  return product;
}

function refuse(message: string): never {
  throw new ValidationError([{ field: 'code', message }], { reason: 'wrong_product_kind' });
}

function problemOf(rule: CustomerNumberRule, number: string): string | null {
  switch (rule.kind) {
    case 'phone':
      if (!/^08\d{8,11}$/.test(number)) {
        return 'customer_number must be a mobile number: 08 and 8 to 11 more digits';
      }
      return rule.prefixes.length === 0 || rule.prefixes.some((prefix) => number.startsWith(prefix))
        ? null
        : `customer_number does not belong to this operator (its prefixes: ${rule.prefixes.join(', ')})`;
    case 'pln':
      return /^\d{11,12}$/.test(number) ? null : 'customer_number must be a meter number of 11 or 12 digits';
    case 'game':
      return /^\d{6,16}([.,|@_-]?\w{1,12})?$/.test(number)
        ? null
        : 'customer_number must be the player id of 6 to 16 digits, with the zone after it where the game has zones';
    case 'bill':
      return /^\d{6,20}$/.test(number) ? null : 'customer_number must be the customer id of 6 to 20 digits';
    case 'any':
      return anyNumber.test(number)
        ? null
        : 'customer_number must have 4 to 50 letters, digits or . , | @ _ -';
  }
}
