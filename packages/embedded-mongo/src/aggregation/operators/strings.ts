import { MongoError } from '../../errors.js';
import { isNumeric, typeNameOf } from '../../values/types.js';
import { codePoints, coerceToString, integerOf, isNullish } from '../coerce.js';
import { binary, nary, unary } from '../operator.js';
import type { Expression, OperatorCall, OperatorCompiler } from '../operator.js';
import { indexArgument } from '../integer-argument.js';
import { replaceOperator } from './replace.js';
import { trimOperator } from './trim.js';

/** Operators on strings. Code points are what MongoDB counts in `...CP`, UTF-8 bytes in `...Bytes`. */
export const stringOperators: Readonly<Record<string, OperatorCompiler>> = {
  $concat: compileConcat,
  $toLower: unary((value) => mapAscii(coerceToString(value), /[A-Z]+/g, (part) => part.toLowerCase())),
  $toUpper: unary((value) => mapAscii(coerceToString(value), /[a-z]+/g, (part) => part.toUpperCase())),
  $strcasecmp: binary((left, right) => compareBytes(upper(left), upper(right))),
  $split: binary(split),
  $strLenBytes: unary((value) => Buffer.byteLength(stringOf(value, 34473, '$strLenBytes'))),
  $strLenCP: unary((value) => codePoints(stringOf(value, 34471, '$strLenCP')).length),
  $substr: nary({ min: 3, max: 3 }, substringBytes),
  $substrBytes: nary({ min: 3, max: 3 }, substringBytes),
  $substrCP: nary({ min: 3, max: 3 }, substringCodePoints),
  $indexOfBytes: nary({ min: 2, max: 4 }, indexOfBytes),
  $indexOfCP: nary({ min: 2, max: 4 }, indexOfCodePoints),
  $trim: trimOperator({ start: true, end: true }),
  $ltrim: trimOperator({ start: true, end: false }),
  $rtrim: trimOperator({ start: false, end: true }),
  $replaceOne: replaceOperator((input, find, by) => {
    const at = input.indexOf(find);
    return at < 0 ? input : input.slice(0, at) + by + input.slice(at + find.length);
  }),
  $replaceAll: replaceOperator((input, find, by) => input.split(find).join(by)),
};

// Case conversion is of ASCII letters only, as in MongoDB.
function mapAscii(text: string, letters: RegExp, convert: (part: string) => string): string {
  return text.replace(letters, convert);
}

const upper = (value: unknown): string =>
  mapAscii(coerceToString(value), /[a-z]+/g, (part) => part.toUpperCase());

function compareBytes(left: string, right: string): number {
  return Math.sign(Buffer.compare(Buffer.from(left), Buffer.from(right)));
}

function stringOf(value: unknown, code: number, what: string): string {
  if (typeof value !== 'string') {
    throw new MongoError(code, `${what} requires a string argument, found: ${typeNameOf(value)}`);
  }
  return value;
}

/** `$concat` looks at its operands one by one: null ends it before a wrong type after it is seen. */
function compileConcat(argument: unknown, call: OperatorCall): Expression {
  return nary({ min: 0, max: Infinity }, (values) => {
    let joined = '';
    for (const value of values) {
      if (isNullish(value)) {
        return null;
      }
      if (typeof value !== 'string') {
        throw new MongoError(16702, `$concat only supports strings, not ${typeNameOf(value)}`);
      }
      joined += value;
    }
    return joined;
  })(argument, call);
}

function split(input: unknown, separator: unknown): string[] | null {
  if (isNullish(input) || isNullish(separator)) {
    return null;
  }
  const text = stringOf(input, 40085, "$split's first argument");
  const by = stringOf(separator, 40086, "$split's second argument");
  if (by === '') {
    throw new MongoError(40087, '$split requires a non-empty separator');
  }
  return text.split(by);
}

function substringBytes([value, from, length]: unknown[], name: string): string {
  const bytes = Buffer.from(coerceToString(value));
  if (!isNumeric(from)) {
    throw new MongoError(16034, `${name}: starting index must be a numeric type (is ${typeNameOf(from)})`);
  }
  if (!isNumeric(length)) {
    throw new MongoError(16035, `${name}: length must be a numeric type (is ${typeNameOf(length)})`);
  }
  const [start, size] = [Math.trunc(Number(from)), Math.trunc(Number(length))];
  if (start < 0) {
    throw new MongoError(50752, `${name}: starting index must be non-negative (got: ${start})`);
  }
  const end = size < 0 ? bytes.length : start + size;
  if (isContinuationByte(bytes[start])) {
    throw new MongoError(28656, `${name}: Invalid range, starting index is a UTF-8 continuation byte.`);
  }
  if (isContinuationByte(bytes[end])) {
    throw new MongoError(
      28657,
      `${name}: Invalid range, ending index is in the middle of a UTF-8 character.`,
    );
  }
  return bytes.toString('utf8', start, end);
}

function isContinuationByte(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function substringCodePoints([value, from, length]: unknown[], name: string): string {
  const text = coerceToString(value);
  const start = codePointArgument(from, { notNumber: 34450, notInteger: 34451 }, `${name}: starting index`);
  const size = codePointArgument(length, { notNumber: 34452, notInteger: 34453 }, `${name}: length`);
  if (size < 0) {
    throw new MongoError(34454, `${name}: length must be a nonnegative integer.`);
  }
  if (start < 0) {
    throw new MongoError(34455, `${name}: the starting index must be nonnegative integer.`);
  }
  return codePoints(text)
    .slice(start, start + size)
    .join('');
}

function codePointArgument(
  value: unknown,
  codes: { readonly notNumber: number; readonly notInteger: number },
  what: string,
): number {
  if (!isNumeric(value)) {
    throw new MongoError(codes.notNumber, `${what} must be a numeric type (is ${typeNameOf(value)})`);
  }
  const integer = integerOf(value);
  if (integer === undefined) {
    throw new MongoError(codes.notInteger, `${what} cannot be represented as a 32-bit integral value`);
  }
  return integer;
}

function indexRange(from: unknown, to: unknown, length: number, name: string): [number, number] {
  const codes = { name, notInteger: 40096, negative: 40097 };
  const start = from === undefined ? 0 : indexArgument(from, codes);
  const end = to === undefined ? length : Math.min(length, indexArgument(to, codes));
  return [start, end];
}

function indexOfBytes([input, token, from, to]: unknown[]): number | null {
  if (isNullish(input)) {
    return null;
  }
  const bytes = Buffer.from(stringOf(input, 40091, '$indexOfBytes'));
  const sought = Buffer.from(stringOf(token, 40092, '$indexOfBytes'));
  const [start, end] = indexRange(from, to, bytes.length, '$indexOfBytes');
  return start > bytes.length || end < start ? -1 : bytes.subarray(0, end).indexOf(sought, start);
}

function indexOfCodePoints([input, token, from, to]: unknown[]): number | null {
  if (isNullish(input)) {
    return null;
  }
  const points = codePoints(stringOf(input, 40093, '$indexOfCP'));
  const sought = codePoints(stringOf(token, 40094, '$indexOfCP'));
  const [start, end] = indexRange(from, to, points.length, '$indexOfCP');
  for (let at = start; at + sought.length <= end; at++) {
    if (sought.every((point, offset) => points[at + offset] === point)) {
      return at;
    }
  }
  return -1;
}
