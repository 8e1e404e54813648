import { Long } from 'bson';
import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import { isDoc, isNumeric, typeNameOf, type Doc } from '../values/types.js';
/** The expected type of a field of a command. As in MongoDB, a null field is treated as absent. */
export type FieldType =
  'object' | 'array' | 'bool' | 'string' | 'number' | 'natural' | 'any' | 'objectOrString' | 'objectOrArray';

/** Fields that every command accepts. */
const COMMON: Readonly<Record<string, FieldType>> = {
  $db: 'string',
  lsid: 'object',
  $clusterTime: 'object',
  $readPreference: 'object',
  $audit: 'any',
  txnNumber: 'number',
  autocommit: 'bool',
  startTransaction: 'bool',
  readConcern: 'object',
  writeConcern: 'object',
  maxTimeMS: 'natural',
  maxTimeMSOpOnly: 'natural',
  comment: 'any',
  stmtId: 'number',
  stmtIds: 'array',
  clientOperationKey: 'any',
  mayBypassWriteBlocking: 'bool',
};

/**
 * Checks the fields of a command, or of one of its statements.
 * @throws MongoError 40415 for an unknown field, 14 for a wrong type, 2 for an invalid value.
 */
export function checkFields(where: string, doc: Doc, types: Readonly<Record<string, FieldType>>): void {
  for (const field of keysOf(doc)) {
    if (field === where) {
      continue;
    }
    const type = Object.hasOwn(types, field) ? types[field] : undefined;
    const value = doc[field];
    if (type === undefined) {
      throw new MongoError(40415, `BSON field '${where}.${field}' is an unknown field.`);
    }
    if (value !== null && value !== undefined) {
      checkType(where, field, { value, type });
    }
  }
}

export function checkCommandFields(
  name: string,
  command: Doc,
  types: Readonly<Record<string, FieldType>> | null,
): void {
  if (types !== null) {
    checkFields(name, command, withCommon(types));
  }
}

const merged = new Map<Readonly<Record<string, FieldType>>, Readonly<Record<string, FieldType>>>();

/** Returns the fields of a command together with the common fields. The merged object is cached. */
function withCommon(types: Readonly<Record<string, FieldType>>): Readonly<Record<string, FieldType>> {
  let all = merged.get(types);
  if (all === undefined) {
    all = { ...COMMON, ...types };
    merged.set(types, all);
  }
  return all;
}

function checkType(where: string, field: string, { value, type }: { value: unknown; type: FieldType }): void {
  if (!hasType(value, type)) {
    throw new MongoError(
      14,
      `BSON field '${where}.${field}' is the wrong type '${typeNameOf(value)}', expected type '${EXPECTED[type]}'`,
    );
  }
  if (type === 'natural' && Number(value) < 0) {
    throw new MongoError(
      2,
      `BSON field '${where}.${field}' value must be >= 0, actual value '${String(value)}'`,
    );
  }
}

const EXPECTED: Readonly<Record<FieldType, string>> = {
  object: 'object',
  array: 'array',
  bool: 'bool',
  string: 'string',
  number: 'number',
  natural: 'long',
  any: 'any',
  objectOrString: 'object or string',
  objectOrArray: 'object or array',
};

function hasType(value: unknown, type: FieldType): boolean {
  switch (type) {
    case 'object':
      return isDoc(value);
    case 'array':
      return Array.isArray(value);
    case 'bool':
      return typeof value === 'boolean' || isNumeric(value);
    case 'string':
      return typeof value === 'string';
    case 'number':
    case 'natural':
      return isNumeric(value);
    case 'any':
      return true;
    case 'objectOrString':
      return isDoc(value) || typeof value === 'string';
    case 'objectOrArray':
      return isDoc(value) || Array.isArray(value);
  }
}

/**
 * Returns a number field as a JS integer, without its fraction. Returns the default if the field is
 * absent.
 */
export function numberField(doc: Doc, field: string, absent: number): number {
  const value = doc[field];
  if (value === undefined || value === null) {
    return absent;
  }
  return Math.trunc(value instanceof Long ? value.toNumber() : Number(value));
}

export function boolField(doc: Doc, field: string, absent = false): boolean {
  const value = doc[field];
  if (value === undefined || value === null) {
    return absent;
  }
  return typeof value === 'boolean' ? value : Number(value) !== 0;
}

export function docField(doc: Doc, field: string): Doc | undefined {
  const value = doc[field];
  return isDoc(value) ? value : undefined;
}

const knownNamespaces = new Map<string, Map<string, string>>();
const KNOWN_MAX = 1000;

/**
 * Returns the namespace of the collection that the first field of a command names.
 * @throws MongoError 73 if the name is invalid.
 */
export function namespaceOf(database: string, collection: unknown): string {
  if (typeof collection !== 'string') {
    throw new MongoError(73, `collection name has invalid type ${typeNameOf(collection)}`);
  }
  const known = knownNamespaces.get(database)?.get(collection);
  return known ?? checkedNamespace(database, collection);
}

function checkedNamespace(database: string, collection: string): string {
  const bad =
    collection === '' || collection.startsWith('.') || collection.includes('$') || collection.includes('\0');
  checkDatabaseName(database);
  if (bad) {
    throw new MongoError(73, `Invalid namespace specified '${database}.${collection}'`);
  }
  const namespace = `${database}.${collection}`;
  const ofDatabase = knownNamespaces.get(database) ?? new Map<string, string>();
  if (knownNamespaces.size < KNOWN_MAX && ofDatabase.size < KNOWN_MAX) {
    knownNamespaces.set(database, ofDatabase.set(collection, namespace));
  }
  return namespace;
}

export function checkDatabaseName(database: string): void {
  if (database === '' || database.length > 63 || /[/\\. "$\0]/.test(database)) {
    throw new MongoError(73, `Invalid database name: '${database}'`);
  }
}
