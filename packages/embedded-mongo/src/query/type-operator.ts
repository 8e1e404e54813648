import { MongoError } from '../errors.js';
import { toDouble } from '../values/numbers.js';
import { BSON, isNumeric, typeOf } from '../values/types.js';
import { valuePredicate, type Predicate } from './predicate.js';

const ALIASES: ReadonlyMap<string, number> = new Map(Object.entries(BSON));
const CODES: ReadonlySet<number> = new Set(ALIASES.values());
const NUMBERS = [BSON.int, BSON.long, BSON.double, BSON.decimal];

/**
 * Compiles `$type`. The operand is a type code, an alias, or a list of codes and aliases.
 * @throws MongoError 2 for an unknown type, 9 for an empty list, 14 if the operand is neither a
 * number nor a string.
 */
export function hasType(operand: unknown): Predicate {
  const wanted: ReadonlySet<number> = new Set(Array.isArray(operand) ? listOf(operand) : typesOf(operand));
  return valuePredicate((value, present) => present && wanted.has(typeOf(value)));
}

function listOf(operand: readonly unknown[]): readonly number[] {
  if (operand.length === 0) {
    throw new MongoError(9, '$type must match at least one type');
  }
  return operand.flatMap(typesOf);
}

function typesOf(operand: unknown): readonly number[] {
  if (operand === 'number') {
    return NUMBERS;
  }
  const isName = typeof operand === 'string';
  if (!isName && !isNumeric(operand)) {
    throw new MongoError(14, 'type must be represented as a number or a string');
  }
  const code = isName ? ALIASES.get(operand) : toDouble(operand);
  if (code === undefined || !CODES.has(code)) {
    throw new MongoError(2, `Unknown type name alias or invalid numerical type code: ${String(operand)}`);
  }
  return [code];
}
