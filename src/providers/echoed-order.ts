import type { ProviderOrder } from './adapter.js';
import { readText } from './informative-fields.js';

const customerFields = ['customer', 'customer_number', 'customer_no'];
const productFields = ['code', 'product_code'];

/**
 * True if a response of the reseller-software protocol states another customer number or product
 * than the order. Such a response proves nothing about the order.
 */
export function isAboutOtherOrder(body: { status: string }, order: ProviderOrder): boolean {
  const stated = new Map<string, unknown>(Object.entries(body));
  const isOther = (fields: string[], isSame: (text: string) => boolean) =>
    fields
      .map((field) => readText(stated.get(field))?.trim() ?? '')
      // Some engines repeat the status in `code`.
      .some((text) => text !== '' && text !== body.status && !isSame(text));
  return (
    isOther(customerFields, (text) => isSameCustomer(text, order.customerNumber)) ||
    isOther(productFields, (text) => isSameProduct(text, order.productCode))
  );
}

export function isSameProduct(stated: string, ordered: string): boolean {
  return stated.trim().toLowerCase() === ordered.trim().toLowerCase();
}

/**
 * True if both are one customer number. A mobile number may be written with 62, 0 or neither. A
 * number with asterisks is masked, so only its visible ends must agree.
 */
export function isSameCustomer(stated: string, ordered: string): boolean {
  const ours = normalizeNumber(ordered);
  if (!stated.includes('*')) {
    return normalizeNumber(stated) === ours;
  }
  const [start = '', end = ''] = stated
    .split(/\*+/)
    .map((part) => part.toLowerCase().replace(/[^a-z0-9]/g, ''));
  return ours.endsWith(end) && ours.startsWith(normalizeNumber(start));
}

function normalizeNumber(number: string): string {
  const kept = number.toLowerCase().replace(/[^a-z0-9]/g, '');
  return kept.replace(/^(62|0)(?=8)/, '').replace(/^0+/, '');
}
