import { Decimal128 } from 'bson';
import { MongoError } from '../errors.js';
import { finite, packDecimal } from '../values/decimal.js';

function failure(text: string): MongoError {
  return new MongoError(241, `Failed to parse number '${text}' in $convert with no onError value`);
}

/** Decimal digits with an optional sign, without white space. Error 241. */
export function parseInteger(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) {
    throw failure(text);
  }
  return BigInt(text.replace(/^\+/, ''));
}

const decimalPattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/** A double; `Infinity`, `inf` and `NaN` in any case are numbers too. Error 241. */
export function parseDouble(text: string): number {
  const special = specialNumber(text);
  if (special !== undefined) {
    return special;
  }
  const value = decimalPattern.test(text) && /\d/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) {
    throw failure(text);
  }
  return value;
}

/** A decimal with the exponent as written: `1.10` is not `1.1`. Error 241. */
export function parseDecimal(text: string): Decimal128 {
  const special = specialNumber(text);
  if (special !== undefined) {
    return Decimal128.fromString(String(special));
  }
  const match = decimalPattern.exec(text);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match ?? [];
  const digits = whole + fraction;
  const power = Number(exponent) - fraction.length;
  // Beyond this no finite decimal remains, and the exponent itself could be absurdly long.
  if (match === null || digits === '' || Math.abs(power) > 20_000) {
    throw failure(text);
  }
  return packDecimal({ ...finite(BigInt(digits), power), negative: sign === '-' });
}

function specialNumber(text: string): number | undefined {
  const match = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, sign, name = ''] = match;
  return name.toLowerCase() === 'nan' ? Number.NaN : sign === '-' ? -Infinity : Infinity;
}
