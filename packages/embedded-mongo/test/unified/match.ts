import { EJSON } from 'bson';
import type { ClientSession } from 'mongodb';
import type { Entities } from './entities.js';

/** The result differs from the expectation of the case. */
export class Mismatch extends Error {}

export interface MatchContext {
  entities: Entities;
  /** The path within the case, for the error message. */
  path: string;
  /** True for the root document, which may have fields that the case does not list. */
  isRoot: boolean;
}

/**
 * Compares a value by the rules of the unified test format.
 * @throws Mismatch if it does not match.
 */
export function match(expected: unknown, value: unknown, context: MatchContext): void {
  const actual = plain(value);
  if (isObject(expected)) {
    const [first] = Object.keys(expected);
    if (first?.startsWith('$$') === true) {
      matchOperator(first, expected[first], actual, context);
    } else {
      matchObject(expected, actual, context);
    }
  } else if (Array.isArray(expected)) {
    demand(Array.isArray(actual) && actual.length === expected.length, expected, actual, context);
    expected.forEach((item, i) =>
      match(item, (actual as unknown[])[i], { ...context, path: `${context.path}[${i}]` }),
    );
  } else {
    const wanted = plain(expected);
    demand(
      wanted === actual || (isValue(wanted) && isValue(actual) && show(wanted) === show(actual)),
      wanted,
      actual,
      context,
    );
  }
}

/** Formats a value for messages. */
export function show(value: unknown): string {
  return value === undefined ? 'nothing' : EJSON.stringify(value, { relaxed: true });
}

function matchObject(expected: Record<string, unknown>, actual: unknown, context: MatchContext): void {
  demand(typeof actual === 'object' && actual !== null && !Array.isArray(actual), expected, actual, context);
  const found = actual as Record<string, unknown>;
  for (const [key, item] of Object.entries(expected)) {
    match(item, found[key], { ...context, path: `${context.path}.${key}`, isRoot: false });
  }
  if (!context.isRoot) {
    const extra = Object.keys(found).filter((key) => found[key] !== undefined && !(key in expected));
    demand(extra.length === 0, expected, actual, context);
  }
}

type Operator = (operand: unknown, actual: unknown, context: MatchContext) => void;

const OPERATORS: Readonly<Record<string, Operator>> = {
  $$exists: (operand, actual, context) =>
    demand((actual !== undefined) === operand, { $$exists: operand }, actual, context),
  $$type: (operand, actual, context) => {
    const types = Array.isArray(operand) ? operand : [operand];
    const isOne = types.some((type) => TYPES[String(type)]?.(actual));
    demand(isOne, { $$type: operand }, actual, context);
  },
  $$matchesEntity: (operand, actual, context) =>
    match(context.entities.get(String(operand)), actual, context),
  $$matchesHexBytes: (operand, actual, context) =>
    demand(
      actual instanceof Uint8Array && Buffer.from(actual).toString('hex') === operand,
      operand,
      actual,
      context,
    ),
  $$unsetOrMatches: (operand, actual, context) => {
    if (actual !== undefined && actual !== null) {
      match(operand, actual, context);
    }
  },
  $$sessionLsid: (operand, actual, context) =>
    match(context.entities.get<ClientSession>(String(operand)).id, actual, context),
  $$lte: (operand, actual, context) =>
    demand(typeof actual === 'number' && actual <= Number(operand), { $$lte: operand }, actual, context),
  $$matchAsDocument: (operand, actual, context) =>
    match(operand, EJSON.parse(String(actual)), { ...context, isRoot: false }),
  $$matchAsRoot: (operand, actual, context) => match(operand, actual, { ...context, isRoot: true }),
};

/** True if the runner supports this operator in expectations. */
export function isOperator(name: string): boolean {
  return Object.hasOwn(OPERATORS, name) || name === '$$hexBytes';
}

function matchOperator(name: string, operand: unknown, actual: unknown, context: MatchContext): void {
  OPERATORS[name]?.(operand, actual, context);
}

const isNumber = (value: unknown): boolean => typeof value === 'number';

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  double: isNumber,
  int: Number.isInteger,
  long: Number.isInteger,
  number: (value) => isNumber(value) || bsonType(value) === 'Decimal128',
  decimal: (value) => bsonType(value) === 'Decimal128',
  string: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  object: isObject,
  array: Array.isArray,
  null: (value) => value === null,
  binData: (value) => bsonType(value) === 'Binary' || value instanceof Uint8Array,
  objectId: (value) => bsonType(value) === 'ObjectId',
  date: (value) => value instanceof Date,
  timestamp: (value) => bsonType(value) === 'Timestamp',
};

function demand(holds: boolean, expected: unknown, actual: unknown, { path }: MatchContext): void {
  if (!holds) {
    throw new Mismatch(`${path}\n    expected ${show(expected)}\n    found    ${show(actual)}`);
  }
}

/** Converts numbers of all types to JS numbers, and the ordered maps of the driver to documents. */
function plain(value: unknown): unknown {
  if (value instanceof Map) {
    return Object.fromEntries(value);
  }
  const isNumeric = ['Int32', 'Double', 'Long'].includes(String(bsonType(value)));
  return isNumeric || typeof value === 'bigint' ? Number(value) : value;
}

/**
 * Returns the name of a BSON class. Names are compared and not classes, because the driver and this
 * runner load separate copies of the library.
 */
function bsonType(value: unknown): unknown {
  return typeof value === 'object' && value !== null && '_bsontype' in value ? value._bsontype : undefined;
}

/** True for a date, a buffer or a value of a BSON class. */
function isValue(value: unknown): boolean {
  return value instanceof Date || value instanceof Uint8Array || bsonType(value) !== undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isValue(value);
}
