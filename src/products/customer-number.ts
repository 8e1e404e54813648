import { InvalidCustomerNumberError } from '../shared/errors.js';
import type { CustomerNumberRule } from './product.model.js';

const anyNumber = /^[0-9A-Za-z.,|@_-]{4,50}$/;

/**
 * A customer number as we keep and echo it (docs/interface.md#customer-numbers): phone numbers lose spaces and
 * dashes, and `+62` or `62` becomes `0`. Everything else stays as it was sent.
 */
export function normalizeCustomerNumber(kind: CustomerNumberRule['kind'], number: string): string {
  if (kind !== 'phone') {
    return number;
  }
  const bare = number.replace(/[\s-]/g, '');
  return bare.replace(/^\+?62/, '0');
}

/**
 * Checks a normalised number against the rule of its product.
 * @throws InvalidCustomerNumberError (422/04) that says what the number should look like.
 */
export function checkCustomerNumber(rule: CustomerNumberRule, number: string): void {
  const problem = problemOf(rule, number);
  if (problem) {
    throw new InvalidCustomerNumberError(problem);
  }
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
