import { MongoError } from '../errors.js';
import { compileFilter } from '../query/compile-filter.js';
import { equalValues } from '../values/compare.js';
import { copyDoc, keysOf } from '../values/fields.js';
import { BSON, isDoc, isNumeric, typeNameOf, typeOf, type Doc } from '../values/types.js';

/**
 * The known options of an index. Options that have no effect in this server are stored and returned
 * by `listIndexes`.
 */
const OPTIONS = new Set([
  'key',
  'name',
  'v',
  'ns',
  'unique',
  'sparse',
  'background',
  'hidden',
  'expireAfterSeconds',
  'partialFilterExpression',
  'collation',
  'storageEngine',
]);
const PLUGINS = new Set(['text', 'hashed', '2d', '2dsphere', 'wildcard', 'columnstore', 'geoHaystack']);

/**
 * Checks the specification of an index and returns the form that is stored.
 * @throws MongoError 67 for an unsupported kind of index, 2, 9, 14 or 197 for any other invalid
 * specification, as MongoDB does.
 */
export function checkIndexSpec(sent: unknown): Doc {
  if (!isDoc(sent)) {
    throw new MongoError(
      14,
      `The elements of the 'indexes' array must be objects, but got ${typeNameOf(sent)}`,
    );
  }
  for (const option of keysOf(sent)) {
    if (!OPTIONS.has(option)) {
      throw new MongoError(197, `The field '${option}' is not valid for an index specification`);
    }
  }
  const key = checkKey(sent['key']);
  checkName(sent['name']);
  checkFlag(sent, 'unique');
  checkFlag(sent, 'sparse');
  checkFlag(sent, 'hidden');
  checkExpiry(sent['expireAfterSeconds'], key);
  checkPartialFilter(sent);
  if (keysOf(key).join() === '_id') {
    checkIdIndex(sent, key);
  }
  const collation = sent['collation'];
  if (isDoc(collation) && keysOf(collation).length > 0 && collation['locale'] !== 'simple') {
    throw new MongoError(67, "embedded-mongo does not support an index with a collation other than 'simple'");
  }
  const { v = 2, key: sentKey, name, ...rest } = copyDoc(sent);
  delete rest['ns'];
  delete rest['collation'];
  return { v, key: sentKey, name, ...rest };
}

function checkKey(key: unknown): Doc {
  if (key === undefined) {
    throw new MongoError(9, "The 'key' field is a required property of an index specification");
  }
  if (!isDoc(key)) {
    throw new MongoError(14, `The field 'key' must be an object, but got ${typeNameOf(key)}`);
  }
  const paths = keysOf(key);
  if (paths.length === 0) {
    throw createCannotCreateIndexError('Index keys cannot be empty');
  }
  for (const path of paths) {
    const direction = key[path];
    if (typeof direction === 'string') {
      const known = PLUGINS.has(direction);
      throw createCannotCreateIndexError(
        known
          ? `embedded-mongo does not support '${direction}' indexes`
          : `Unknown index plugin '${direction}'`,
      );
    }
    if (!isNumeric(direction) || !Number.isFinite(Number(direction)) || Number(direction) === 0) {
      throw createCannotCreateIndexError(
        `Values in v:2 index key pattern must be numbers other than 0, or strings: '${path}'`,
      );
    }
    if (path.split('.').some((part) => part === '')) {
      throw createCannotCreateIndexError('Index keys cannot contain an empty field.');
    }
    if (path.split('.').some((part) => part.startsWith('$') && part !== '$**')) {
      throw createCannotCreateIndexError(
        "Index key contains an illegal field name: field name starts with '$'.",
      );
    }
    if (path.split('.').includes('$**')) {
      throw createCannotCreateIndexError('embedded-mongo does not support wildcard indexes');
    }
  }
  return key;
}

function checkName(name: unknown): void {
  if (name === undefined) {
    throw new MongoError(9, "The 'name' field is a required property of an index specification");
  }
  if (typeof name !== 'string') {
    throw new MongoError(14, `The field 'name' must be a string, but got ${typeNameOf(name)}`);
  }
  if (name === '') {
    throw createCannotCreateIndexError('index name cannot be empty');
  }
  if (name === '*') {
    throw new MongoError(2, "The index name '*' is not valid.");
  }
}

function checkFlag(spec: Doc, option: string): void {
  const value = spec[option];
  if (value !== undefined && typeof value !== 'boolean' && !isNumeric(value)) {
    throw new MongoError(
      14,
      `The field '${option}' has type ${typeNameOf(value)}, which is not convertible to bool`,
    );
  }
}

function checkExpiry(value: unknown, key: Doc): void {
  if (value === undefined) {
    return;
  }
  if (!isNumeric(value) || !(Number(value) >= 0) || Number(value) > 2_147_483_647) {
    throw createCannotCreateIndexError(
      "TTL index 'expireAfterSeconds' option must be within an acceptable range",
    );
  }
  if (keysOf(key).length > 1) {
    throw createCannotCreateIndexError(
      'TTL indexes are single-field indexes, compound indexes do not support TTL.',
    );
  }
}

function checkPartialFilter(spec: Doc): void {
  const filter = spec['partialFilterExpression'];
  if (filter === undefined) {
    return;
  }
  if (!isDoc(filter)) {
    throw new MongoError(
      14,
      `The field 'partialFilterExpression' must be an object, but got ${typeNameOf(filter)}`,
    );
  }
  if (spec['sparse'] === true) {
    throw createCannotCreateIndexError('cannot mix "partialFilterExpression" and "sparse" options');
  }
  checkPartialCondition(filter);
  compileFilter(filter);
}

const PARTIAL_OPERATORS = new Set(['$eq', '$lt', '$lte', '$gt', '$gte', '$type', '$in', '$exists']);

function checkPartialCondition(filter: Doc): void {
  for (const field of keysOf(filter)) {
    const condition = filter[field];
    if (field === '$and' || field === '$or') {
      for (const part of Array.isArray(condition) ? (condition as unknown[]) : []) {
        if (isDoc(part)) {
          checkPartialCondition(part);
        }
      }
      continue;
    }
    const bad = findUnsupported(field, condition);
    if (bad !== undefined) {
      throw createCannotCreateIndexError(`Expression not supported in partial index: ${bad}`);
    }
  }
}

function findUnsupported(field: string, condition: unknown): string | undefined {
  if (field.startsWith('$')) {
    return field;
  }
  if (typeOf(condition) === BSON.regex) {
    return '$regex';
  }
  if (!isDoc(condition) || !(keysOf(condition)[0]?.startsWith('$') ?? false)) {
    return undefined;
  }
  if (condition['$exists'] === false) {
    return '$exists: false';
  }
  return keysOf(condition).find((operator) => !PARTIAL_OPERATORS.has(operator));
}

function checkIdIndex(spec: Doc, key: Doc): void {
  if (!equalValues(key['_id'], 1)) {
    throw new MongoError(2, "The field 'key' for an _id index must be {_id: 1}, but got another direction");
  }
  for (const option of ['unique', 'sparse', 'partialFilterExpression', 'expireAfterSeconds', 'hidden']) {
    if (spec[option] !== undefined) {
      throw new MongoError(197, `The field '${option}' is not valid for an _id index specification`);
    }
  }
}

function createCannotCreateIndexError(message: string): MongoError {
  return new MongoError(67, message);
}
