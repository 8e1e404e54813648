import { parsePlnToken } from '../purchases/pln-token.js';
import type { Purchase } from '../purchases/purchase.model.js';

/** Masks a number and returns the masked text. */
export type MaskNumber = (number: string) => string;

/**
 * Replacement for texts of third parties, which may contain the customer's number or name in any
 * form.
 */
export const removedText = 'Removed with the customer number.';
const removedMark = '***';

/** Removes a customer's data from the texts of a purchase. Applying it twice changes nothing. */
export interface Scrubber {
  /** Texts of a provider or a receiver are replaced completely. */
  words<T extends string | null>(text: T): T | string;
  /**
   * The part that can only be a reference is kept, because it reveals that one delivery was sold
   * twice.
   */
  serialNumber<T extends string | null>(serialNumber: T): T | string;
  /** The JSON body of a webhook or callback. */
  body(json: string): string;
}

/**
 * Builds the scrubber of one purchase.
 * @param by.name The customer's name, if a bill contained it.
 */
export function buildScrubber(
  { customerNumber }: Pick<Purchase, 'customerNumber'>,
  { hide, name }: { hide: MaskNumber; name: string | null },
): Scrubber {
  const holdsCustomer = buildCustomerFinder(customerNumber, name);
  const words: Scrubber['words'] = (text) => (text === null ? text : removedText);
  const serialNumber: Scrubber['serialNumber'] = (text) => {
    const reference = text === null ? null : findReference(text);
    if (text === null || reference === null) {
      return text === null ? text : removedMark;
    }
    return holdsCustomer(reference) ? removedMark : reference;
  };
  const field = (key: string, value: unknown): unknown => {
    if (typeof value !== 'string') {
      return value;
    }
    switch (key) {
      case 'customer_number':
        return hide(value);
      case 'sn':
      case 'serial_number':
        return serialNumber(value);
      case 'message':
        return words(value);
      default:
        return value;
    }
  };
  return { words, serialNumber, body: (json) => JSON.stringify(JSON.parse(json, field)) };
}

/**
 * Returns a function that finds the customer in a text. It matches a word of the name, and the
 * number in any notation: with separators, a country code, no leading zero, or between letters.
 */
function buildCustomerFinder(number: string, name: string | null): (text: string) => boolean {
  const bare = removeSeparators(number);
  const national = bare.replace(/^(?:62|0)/, '');
  const parts = [
    national.length >= 5 ? national : bare,
    // A player's id may be followed by a server id, which texts can omit.
    ...(number.match(/\d{6,}/g) ?? []),
    ...(name ?? '').split(notAlphanumeric).filter((word) => word.length > 2),
  ]
    .map((part) => part.toLowerCase())
    .filter((part) => part !== '');
  return (text) => {
    const seen = [removeSeparators(text).toLowerCase(), text.replace(/\D/g, '')];
    return parts.some((part) => seen.some((each) => each.includes(part)));
  };
}

const notAlphanumeric = /[^\p{L}\p{N}]+/u;

function removeSeparators(text: string): string {
  return text.split(notAlphanumeric).join('');
}

const leadingTokenPattern = /^((?:\d{4}[- ]?){4}\d{4})\//;
const tariffPattern = /^[A-Z]{1,2}-?\d?[A-Z]{0,2}$/i;
const powerPattern = /^\d[\d.,]{0,8} ?k?VA$/i;
const energyPattern = /^\d[\d.,]{0,8}( ?kWh)?$/i;

/**
 * Returns the part of a serial number that cannot be a name. It is an electricity token without the
 * name, or the whole number if each of its parts has a digit. Null if there is none.
 */
function findReference(serialNumber: string): string | null {
  const token = leadingTokenPattern.exec(serialNumber)?.[1];
  if (token !== undefined) {
    const parts = parsePlnToken(serialNumber) === null ? [] : serialNumber.split('/').slice(-3);
    const [tariff = '', power = '', energy = ''] = parts.map((part) => part.trim());
    const isPln = tariffPattern.test(tariff) && powerPattern.test(power) && energyPattern.test(energy);
    return [token, removedMark, ...(isPln ? parts : [])].join('/');
  }
  const parts = serialNumber.split(notAlphanumeric).filter((part) => part !== '');
  return parts.every((part) => /\d/.test(part)) ? serialNumber : null;
}
