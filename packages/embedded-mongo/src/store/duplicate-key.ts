import { Binary, Decimal128, Double, Long, ObjectId, Timestamp } from 'bson';
import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';
import { getKeyValues, type Index } from './index-definition.js';

/**
 * Returns the error for a second document with the same key in a unique index. It contains the
 * index and the key values.
 */
export function createDuplicateKeyError(namespace: string, index: Index, doc: Doc, key: string): MongoError {
  const values = getKeyValues(index, doc, key);
  const keyValue: Doc = {};
  index.fields.forEach(({ path }, i) => {
    keyValue[path] = values[i];
  });
  const shown = index.fields.map(({ path }, i) => `${path}: ${formatValue(values[i])}`).join(', ');
  return new MongoError(
    11000,
    `E11000 duplicate key error collection: ${namespace} index: ${index.name} dup key: { ${shown} }`,
    { keyPattern: index.spec['key'], keyValue },
  );
}

/** Formats a value as in MongoDB's messages. */
export function formatValue(value: unknown): string {
  if (value === undefined) {
    return 'undefined';
  }
  if (typeof value === 'string') {
    return JSON.stringify(value);
  }
  if (typeof value === 'number') {
    return String(value);
  }
  if (value instanceof Double) {
    return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value);
  }
  if (value instanceof ObjectId) {
    return `ObjectId('${value.toHexString()}')`;
  }
  if (value instanceof Date) {
    return `new Date(${value.getTime()})`;
  }
  if (value instanceof Decimal128) {
    return `Decimal128('${value.toString()}')`;
  }
  if (value instanceof Long) {
    return value.toString();
  }
  if (value instanceof Timestamp) {
    return `Timestamp(${value.t}, ${value.i})`;
  }
  if (value instanceof Binary) {
    return `BinData(${value.sub_type}, ${value.toString('hex').toUpperCase()})`;
  }
  if (Array.isArray(value)) {
    return `[ ${value.map(formatValue).join(', ')} ]`;
  }
  if (isDoc(value)) {
    return `{ ${keysOf(value)
      .map((key) => `${key}: ${formatValue(value[key])}`)
      .join(', ')} }`;
  }
  return value === null || typeof value === 'boolean' ? String(value) : typeNameOf(value);
}
