import { MongoError } from '../../errors.js';
import { keysOf, setField } from '../../values/fields.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { nary, unary } from '../operator.js';
import type { Expression, OperatorCall, OperatorCompiler } from '../operator.js';

/** Operators on documents. */
export const objectOperators: Readonly<Record<string, OperatorCompiler>> = {
  $mergeObjects: compileMergeObjects,
  $objectToArray: unary(objectToArray),
  $arrayToObject: unary(arrayToObject),
};

/** Merges documents, null and missing skipped; also used by the accumulator. Error 40400. */
export function mergeInto(target: Doc, source: unknown): void {
  if (isNullish(source)) {
    return;
  }
  if (!isDoc(source)) {
    throw new MongoError(
      40400,
      `$mergeObjects requires object inputs, but input is of type ${typeNameOf(source)}`,
    );
  }
  for (const key of keysOf(source)) {
    setField(target, key, source[key]);
  }
}

function compileMergeObjects(argument: unknown, call: OperatorCall): Expression {
  return nary({ min: 0, max: Infinity }, (values) => {
    const merged: Doc = {};
    for (const value of values) {
      mergeInto(merged, value);
    }
    return merged;
  })(argument, call);
}

function objectToArray(value: unknown): unknown {
  if (isNullish(value)) {
    return null;
  }
  if (!isDoc(value)) {
    throw new MongoError(40390, `$objectToArray requires a document input, found: ${typeNameOf(value)}`);
  }
  return keysOf(value).map((key) => ({ k: key, v: value[key] }));
}

function arrayToObject(list: unknown): Doc | null {
  if (isNullish(list)) {
    return null;
  }
  if (!Array.isArray(list)) {
    throw new MongoError(40386, `$arrayToObject requires an array input, found: ${typeNameOf(list)}`);
  }
  const [first] = list as unknown[];
  if (list.length > 0 && !Array.isArray(first) && !isDoc(first)) {
    throw new MongoError(40398, `Unrecognised input type format for $arrayToObject: ${typeNameOf(first)}`);
  }
  const read = Array.isArray(first) ? pairOfArray : pairOfObject;
  const object: Doc = {};
  for (const element of list) {
    const [key, value] = read(element);
    if (key.includes('\0')) {
      throw new MongoError(4940400, 'Key field cannot contain an embedded null byte');
    }
    // A missing value keeps no field, as for any missing value.
    if (value !== undefined) {
      setField(object, key, value);
    }
  }
  return object;
}

function pairOfArray(pair: unknown): [string, unknown] {
  if (!Array.isArray(pair)) {
    throw new MongoError(
      40396,
      `$arrayToObject requires a consistent input format, found: ${typeNameOf(pair)}`,
    );
  }
  if (pair.length !== 2) {
    throw new MongoError(40397, `$arrayToObject requires an array of size 2 arrays, found: ${pair.length}`);
  }
  const [key, value] = pair as [unknown, unknown];
  if (typeof key !== 'string') {
    throw new MongoError(40395, `$arrayToObject requires keys of type string, found: ${typeNameOf(key)}`);
  }
  return [key, value];
}

function pairOfObject(pair: unknown): [string, unknown] {
  if (!isDoc(pair)) {
    throw new MongoError(
      40391,
      `$arrayToObject requires a consistent input format, found: ${typeNameOf(pair)}`,
    );
  }
  const keys = keysOf(pair);
  if (keys.length !== 2) {
    throw new MongoError(
      40392,
      `$arrayToObject requires an object of keys 'k' and 'v', found: ${keys.length}`,
    );
  }
  if (!keys.includes('k') || !keys.includes('v')) {
    throw new MongoError(40393, "$arrayToObject requires an object with keys 'k' and 'v'");
  }
  if (typeof pair.k !== 'string') {
    throw new MongoError(40394, `$arrayToObject requires 'k' of type string, found: ${typeNameOf(pair.k)}`);
  }
  return [pair.k, pair.v];
}
