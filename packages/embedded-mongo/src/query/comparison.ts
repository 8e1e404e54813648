import { BSONRegExp } from 'bson';
import { MongoError } from '../errors.js';
import { compareNumbers, compareValues, equalValues, getTypeRank } from '../values/compare.js';
import { keyString } from '../values/key-string.js';
import { isNaNValue } from '../values/numbers.js';
import { BSON, isDoc, isNumeric, typeOf } from '../values/types.js';
import { not, valuePredicate, type Predicate, type ValueTest } from './predicate.js';
import { regexTest } from './regex-operator.js';

/**
 * Compiles `$eq`: the values must be equal in the total order. Null also matches a missing field. A
 * regex is compared as a value and not used as a pattern.
 */
export function equalTo(operand: unknown): Predicate {
  return valuePredicate(equalityTest(checkOperand(operand)));
}

/** Compiles `{field: value}`. Unlike with `$eq`, a regex is used as a pattern for strings. */
export function implicitlyEqualTo(operand: unknown): Predicate {
  return operand instanceof BSONRegExp ? valuePredicate(regexTest(operand)) : equalTo(operand);
}

export function notEqualTo(operand: unknown): Predicate {
  if (operand instanceof BSONRegExp) {
    throw new MongoError(2, "Can't have regex as arg to $ne.");
  }
  return not(equalTo(operand));
}

function checkOperand(operand: unknown): unknown {
  if (operand === undefined) {
    throw new MongoError(2, 'cannot compare to undefined');
  }
  return operand;
}

function equalityTest(operand: unknown): ValueTest {
  if (operand === null) {
    return (value, present) => value === null || !present;
  }
  if (typeof operand === 'string' || typeof operand === 'number') {
    const type = typeof operand;
    // Only a value of another class with the same type rank, such as a Long and an int, needs the
    // general comparison.
    return (value) =>
      value === operand ||
      (typeof value === 'object' && value !== null && equalValues(value, operand)) ||
      (type === 'number' && Number.isNaN(operand) && Number.isNaN(value));
  }
  return (value) => equalValues(value, operand);
}

const SET_FROM = 8;

/**
 * Compiles `$in`: the value must equal one of the listed values, or match one of the listed
 * regexes.
 */
export function inList(operand: unknown): Predicate {
  if (!Array.isArray(operand)) {
    throw new MongoError(2, '$in needs an array');
  }
  const values: unknown[] = [];
  const tests: ValueTest[] = [];
  for (const element of operand as readonly unknown[]) {
    if (isDoc(element) && Object.keys(element)[0]?.startsWith('$') === true && !isDbRef(element)) {
      throw new MongoError(2, 'cannot nest $ under $in');
    }
    checkOperand(element);
    if (element instanceof BSONRegExp) {
      tests.push(regexTest(element));
    } else if (element === null) {
      tests.push(equalityTest(null));
    } else {
      values.push(element);
    }
  }
  tests.unshift(membershipTest(values));
  return valuePredicate((value, present) => tests.some((test) => test(value, present)));
}

function membershipTest(values: readonly unknown[]): ValueTest {
  if (values.length < SET_FROM) {
    const tests = values.map(equalityTest);
    return (value, present) => tests.some((test) => test(value, present));
  }
  const keys = new Set(values.map(keyString));
  return (value, present) => present && keys.has(keyString(value));
}

export function notInList(operand: unknown): Predicate {
  if (!Array.isArray(operand)) {
    throw new MongoError(2, '$nin needs an array');
  }
  return not(inList(operand));
}

/**
 * True for a document reference `{$ref, $id, $db}`. It is a value, although its keys begin with a
 * dollar sign.
 */
export function isDbRef(value: object): boolean {
  const first = Object.keys(value)[0];
  return first === '$ref' || first === '$id' || first === '$db';
}

export type RangeOperator = '$gt' | '$gte' | '$lt' | '$lte';

/**
 * Compiles `$gt`, `$gte`, `$lt` and `$lte`. They match only values with the same type rank as the
 * operand.
 */
export function inRange(operator: RangeOperator, operand: unknown): Predicate {
  if (operand instanceof BSONRegExp) {
    throw new MongoError(2, `Can't have RegEx as arg to predicate over field with ${operator}`);
  }
  return valuePredicate(rangeTest(operator, checkOperand(operand)));
}

function rangeTest(operator: RangeOperator, operand: unknown): ValueTest {
  const accepts = ACCEPTS[operator];
  const type = typeOf(operand);
  if (type === BSON.null) {
    return operator === '$gte' || operator === '$lte' ? equalityTest(null) : () => false;
  }
  if (type === BSON.minKey || type === BSON.maxKey) {
    // Every other value, and a missing field, is above MinKey and below MaxKey.
    const beyond = type === BSON.minKey ? accepts(1) : accepts(-1);
    return (value, present) => (present && typeOf(value) === type ? accepts(0) : beyond);
  }
  if (isNumeric(operand)) {
    const isNaNOperand = isNaNValue(operand);
    return (value) =>
      isNumeric(value) && isNaNValue(value) === isNaNOperand && accepts(compareNumbers(value, operand));
  }
  const order = getTypeRank(type);
  return (value, present) =>
    present && getTypeRank(typeOf(value)) === order && accepts(compareValues(value, operand));
}

const ACCEPTS: Readonly<Record<RangeOperator, (order: number) => boolean>> = {
  $gt: (order) => order > 0,
  $gte: (order) => order >= 0,
  $lt: (order) => order < 0,
  $lte: (order) => order <= 0,
};
