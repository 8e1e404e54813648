import { BSONRegExp, BSONSymbol } from 'bson';
import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import type { Doc } from '../values/types.js';
import { compilePcre } from './pcre.js';
import { valuePredicate, type Predicate, type ValueTest } from './predicate.js';

/** Tests whether a string matches the regex. A stored regex matches if it is identical. */
export function regexTest(regex: BSONRegExp): ValueTest {
  const compiled = compilePcre(regex.pattern, regex.options);
  return (value) => {
    if (typeof value === 'string') {
      return compiled.test(value);
    }
    if (value instanceof BSONSymbol) {
      return compiled.test(value.value);
    }
    return value instanceof BSONRegExp && value.pattern === regex.pattern && value.options === regex.options;
  };
}

/**
 * Compiles `{$regex, $options}`.
 * @throws MongoError 2, 51074 or 51075 for invalid operands, 51091 for an invalid pattern, 51108
 * for an unknown flag.
 */
export function matchesRegex(operators: Doc): Predicate {
  const { $regex: regex, $options: options } = operators;
  if (options !== undefined && typeof options !== 'string') {
    throw new MongoError(2, '$options has to be a string');
  }
  if (typeof regex === 'string') {
    return valuePredicate(regexTest(regexOf(regex, options ?? '')));
  }
  if (!(regex instanceof BSONRegExp)) {
    throw new MongoError(2, '$regex has to be a string');
  }
  const optionsFirst = keysOf(operators).indexOf('$options') < keysOf(operators).indexOf('$regex');
  if (options === undefined || (options === '' && optionsFirst)) {
    return valuePredicate(regexTest(regex));
  }
  if (regex.options !== '') {
    throw new MongoError(optionsFirst ? 51074 : 51075, 'options set in both $regex and $options');
  }
  return valuePredicate(regexTest(regexOf(regex.pattern, options)));
}

function regexOf(pattern: string, options: string): BSONRegExp {
  if (pattern.includes('\0')) {
    throw new MongoError(51109, 'Regular expression cannot contain an embedded null byte');
  }
  const regex = new BSONRegExp(pattern, '');
  regex.options = options;
  return regex;
}
