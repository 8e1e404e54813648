import { bsonType, type Decimal128, type Double, type Int32, type Long } from 'bson';

/**
 * A document in memory. A JS number is an int32 if it is an integer in the int32 range and not -0.
 * Any other JS number is a double. A double with an integer value in the int32 range is a `Double`,
 * and an int64 is a `Long`.
 *
 * Read and write fields with `getField` and `setField`, and list their names with `keysOf`. Plain
 * JS access fails for `__proto__` and loses the order of integer keys.
 */
export type Doc = Record<string, unknown>;

export type Numeric = number | Double | Long | Decimal128 | Int32;

/** The BSON element types with their numbers, which `$type` also uses. */
export const BSON = {
  minKey: -1,
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binData: 5,
  undefined: 6,
  objectId: 7,
  bool: 8,
  date: 9,
  null: 10,
  regex: 11,
  dbPointer: 12,
  javascript: 13,
  symbol: 14,
  javascriptWithScope: 15,
  int: 16,
  timestamp: 17,
  long: 18,
  decimal: 19,
  maxKey: 127,
} as const;

export type BsonTypeName = keyof typeof BSON;
/** The types of values in memory. A DBPointer cannot occur, because decoding refuses it. */
export type BsonType = (typeof BSON)[Exclude<BsonTypeName, 'dbPointer'>];

/** The BSON type of a value in memory (see `Doc`). */
export function typeOf(value: unknown): BsonType {
  switch (typeof value) {
    case 'number':
      return (value | 0) === value && (value !== 0 || 1 / value > 0) ? BSON.int : BSON.double;
    case 'string':
      return BSON.string;
    case 'boolean':
      return BSON.bool;
    case 'object':
      break;
    case 'undefined':
      return BSON.undefined;
    case 'bigint':
      return BSON.long;
    case 'function':
    case 'symbol':
      throw new TypeError(`a ${typeof value} is no BSON value`);
  }
  if (value === null) {
    return BSON.null;
  }
  const tag = (value as Tagged)[bsonType];
  if (tag !== undefined) {
    return typeOfTag(tag, value);
  }
  if (Array.isArray(value)) {
    return BSON.array;
  }
  return value instanceof Date ? BSON.date : value instanceof Uint8Array ? BSON.binData : BSON.object;
}

/**
 * The bson library marks its classes with a symbol. A stored document cannot have a symbol as a
 * field name.
 */
interface Tagged {
  [bsonType]?: string;
}

function typeOfTag(tag: string, value: object): BsonType {
  switch (tag) {
    case 'ObjectId':
      return BSON.objectId;
    case 'Long':
      return BSON.long;
    case 'Double':
      return BSON.double;
    case 'Decimal128':
      return BSON.decimal;
    case 'Binary':
      return BSON.binData;
    case 'Timestamp':
      return BSON.timestamp;
    case 'BSONRegExp':
      return BSON.regex;
    case 'MinKey':
      return BSON.minKey;
    case 'MaxKey':
      return BSON.maxKey;
    case 'Code':
      return 'scope' in value && value.scope !== null ? BSON.javascriptWithScope : BSON.javascript;
    case 'BSONSymbol':
      return BSON.symbol;
    case 'Int32':
      return BSON.int;
    default:
      return BSON.object;
  }
}

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(BSON).map(([name, code]) => [code, name]));

/** The `$type` alias of a value: 'double', 'objectId', ... */
export function typeNameOf(value: unknown): string {
  return NAMES.get(typeOf(value)) ?? 'missing';
}

/** True for an embedded document. False for arrays, null and the values of BSON classes. */
export function isDoc(value: unknown): value is Doc {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as Tagged)[bsonType] === undefined &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !(value instanceof Uint8Array)
  );
}

/** True for int32, int64, double and Decimal128. */
export function isNumeric(value: unknown): value is Numeric {
  if (typeof value === 'number') {
    return true;
  }
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const tag = (value as Tagged)[bsonType];
  return tag === 'Long' || tag === 'Double' || tag === 'Decimal128' || tag === 'Int32';
}
