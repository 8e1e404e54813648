import Joi from 'joi';
import { limits } from '../../config/limits.js';

/**
 * Fields of a provider's response that need not have the documented type. PHP engines write numbers
 * as text, and an empty object as `[]`. An informative field that cannot be read is null, so that it
 * never hides the outcome of an order.
 */

/** Text that decides nothing. A number becomes its digits. */
export const informativeText = Joi.any().custom(readText);
/** Rupiah that decide nothing, rounded up. */
export const informativeRupiah = Joi.any().custom(readRupiah);
/** A balance in rupiah, rounded down. */
export const informativeBalance = Joi.any().custom(readBalanceAmount);
/** Rupiah that decide about money, rounded up. An unreadable amount makes the response unreadable. */
export const decidingRupiah = Joi.any().custom(
  (value: unknown, helpers) => readRupiah(value) ?? helpers.error('any.invalid'),
);

/** A balance that was asked for, rounded down. */
export const decidingBalance = Joi.any().custom(
  (value: unknown, helpers) => readBalanceAmount(value) ?? helpers.error('any.invalid'),
);

/** A number too large for exact digits is not read. */
export function readText(value: unknown): string | null {
  if (typeof value === 'string') {
    return value;
  }
  return Number.isSafeInteger(value) ? String(value) : null;
}

/**
 * Returns an amount in whole rupiah, rounded up so that a cost is never understated. Null if it is
 * negative or unreadable. Text such as `10.000` is unreadable: it is ten rupiah or ten thousand. So
 * is a fraction below 1,000, as in `10.50`, because engines write 10,500 as `10.500`.
 */
export function readRupiah(value: unknown): number | null {
  const amount = readDecimal(value);
  if (amount === null || amount < 0 || amount > limits.moneyMax) {
    return null;
  }
  return amount < 1_000 && !Number.isInteger(amount) ? null : Math.ceil(amount);
}

/** Returns a balance in whole rupiah, rounded down. It may be negative. */
export function readBalanceAmount(value: unknown): number | null {
  const amount = readDecimal(value);
  return amount === null || Math.abs(amount) > limits.moneyMax ? null : Math.floor(amount);
}

function readDecimal(value: unknown): number | null {
  if (typeof value === 'string') {
    return /^-?\d{1,16}(\.\d{1,2})?$/.test(value.trim()) ? Number(value) : null;
  }
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/**
 * Puts the digits of a number under this key in quotes, because JSON.parse rounds long numbers. A
 * name in quotes before a colon is always a key: inside a text, its quotes are escaped.
 */
export function quoteNumber(json: string, key: string): string {
  return json.replaceAll(new RegExp(String.raw`("${key}"\s*:\s*)(\d+)(?=\s*[,}])`, 'g'), '$1"$2"');
}
