import { MongoError } from '../../errors.js';
import { typeNameOf } from '../../values/types.js';
import { int32Argument } from '../arguments.js';
import { codePoints, coerceToString, isNullish } from '../coerce.js';
import {
  binary,
  nary,
  unary,
  type Expression,
  type OperatorCall,
  type OperatorCompiler,
} from '../operator.js';

/** Operators on strings; what they count are code points. */
export const stringOperators: Readonly<Record<string, OperatorCompiler>> = {
  $concat: compileConcat,
  // Case conversion is of ASCII letters only, as in MongoDB.
  $toLower: unary((value) => coerceToString(value).replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  $toUpper: unary((value) => coerceToString(value).replace(/[a-z]+/g, (part) => part.toUpperCase())),
  $split: binary(split),
  $strLenCP: unary((value) => codePoints(stringOf(value, 34471, '$strLenCP')).length),
  $substrCP: nary({ min: 3, max: 3 }, substringCodePoints),
};

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

function substringCodePoints([value, from, length]: unknown[], name: string): string {
  const text = coerceToString(value);
  const start = int32Argument(from, {
    notNumber: 34450,
    notInteger: 34451,
    what: `${name}: starting index`,
  });
  const size = int32Argument(length, { notNumber: 34452, notInteger: 34453, what: `${name}: length` });
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
