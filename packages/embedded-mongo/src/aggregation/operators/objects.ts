import { Binary } from 'bson';
import { MongoError } from '../../errors.js';
import { encode } from '../../values/encode.js';
import { copyDoc, deleteField, getField, keysOf, setField } from '../../values/fields.js';
import { isDoc, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { isNullish } from '../coerce.js';
import { combine, constantValue, namedArguments, nary, unary } from '../operator.js';
import type { Expression, OperatorCall, OperatorCompiler } from '../operator.js';
import { findVariable } from '../scope.js';

/** Operators on documents. */
export const objectOperators: Readonly<Record<string, OperatorCompiler>> = {
  $mergeObjects: compileMergeObjects,
  $objectToArray: unary(objectToArray),
  $arrayToObject: unary(arrayToObject),
  $getField: compileGetField,
  $setField: compileSetField,
  $unsetField: (argument, call) =>
    compileSetField(isDoc(argument) ? { ...argument, value: '$$REMOVE' } : argument, call),
  $bsonSize: unary(bsonSize),
  $binarySize: unary(binarySize),
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

function compileGetField(argument: unknown, call: OperatorCall): Expression {
  const current = findVariable(call.scope, 'CURRENT');
  const isNamed = isDoc(argument) && !keysOf(argument).some((key) => key.startsWith('$'));
  const parts = isNamed
    ? new Map(
        namedArguments(argument, call, {
          keys: ['field', 'input'],
          required: { field: 3041702, input: 3041703 },
          notObject: 3041700,
          unknownKey: 3041701,
        }),
      )
    : new Map([['field', argument]]);
  const name = fieldNameOf(parts.get('field'), call, 3041704);
  const input = parts.has('input') ? call.compile(parts.get('input')) : current;
  return combine([input], (root) => {
    const document = input.evaluate(root);
    return isNullish(document) ? null : isDoc(document) ? getField(document, name) : undefined;
  });
}

/** A constant field name, which may have dots and dollars (`{$literal: '$a'}`). */
function fieldNameOf(expression: unknown, call: OperatorCall, code: number): string {
  const compiled = call.compile(expression);
  const name = compiled.constant ? constantValue(compiled) : undefined;
  if (typeof name !== 'string') {
    throw new MongoError(code, `${call.name} requires 'field' to evaluate to a constant string`);
  }
  return name;
}

function compileSetField(argument: unknown, call: OperatorCall): Expression {
  const parts = new Map(
    namedArguments(argument, call, {
      keys: ['field', 'input', 'value'],
      required: { field: 4161102, value: 4161103, input: 4161109 },
      notObject: 4161100,
      unknownKey: 4161101,
    }),
  );
  const name = fieldNameOf(parts.get('field'), call, 4161106);
  const input = call.compile(parts.get('input'));
  const value = call.compile(parts.get('value'));
  return combine([input, value], (root) => {
    const document = input.evaluate(root);
    if (isNullish(document)) {
      return null;
    }
    if (!isDoc(document)) {
      throw new MongoError(4161105, `${call.name} requires 'input' to evaluate to type Object`);
    }
    const copy = copyDoc(document);
    const set = value.evaluate(root);
    if (set === undefined) {
      deleteField(copy, name);
    } else {
      setField(copy, name, set);
    }
    return copy;
  });
}

function bsonSize(value: unknown): number | null {
  if (isNullish(value)) {
    return null;
  }
  if (!isDoc(value)) {
    throw new MongoError(31393, `$bsonSize requires a document input, found: ${typeNameOf(value)}`);
  }
  return encode(value).length;
}

function binarySize(value: unknown): number | null {
  if (isNullish(value)) {
    return null;
  }
  if (typeof value === 'string') {
    return Buffer.byteLength(value);
  }
  if (value instanceof Binary) {
    return value.length();
  }
  throw new MongoError(
    51276,
    `$binarySize requires a string or BinData argument, found: ${typeNameOf(value)}`,
  );
}
