import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import { splitPath } from '../values/paths.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';
import type { ArrayFilters } from './array-filters.js';
import { addToSet, pop, pull, pullAll } from './array-modifiers.js';
import type { ModifierParser } from './modifier.js';
import { push } from './push-modifier.js';
import { addToTree, isArrayPart, objectNode, sortTree, type ObjectNode } from './update-tree.js';
import { currentDate, inc, max, min, mul, set, setOnInsert, unset } from './value-modifiers.js';

const PARSERS: ReadonlyMap<string, ModifierParser> = new Map([
  ['$set', set],
  ['$setOnInsert', setOnInsert],
  ['$unset', unset],
  ['$inc', inc],
  ['$mul', mul],
  ['$min', min],
  ['$max', max],
  ['$currentDate', currentDate],
  ['$push', push],
  ['$addToSet', addToSet],
  ['$pop', pop],
  ['$pull', pull],
  ['$pullAll', pullAll],
]);

export interface ParsedModifiers {
  readonly tree: ObjectNode;
  /**
   * True if a path contains the positional operator `$`. The filter must then report the position
   * of the matching element.
   */
  readonly isPositional: boolean;
}

/**
 * Checks and compiles an update with operators. The result does not depend on the documents.
 * @throws MongoError 2, 9, 14, 40 or 56 for an invalid update, as MongoDB does.
 */
export function parseModifiers(update: Doc, filters: ArrayFilters): ParsedModifiers {
  const tree = objectNode();
  const paths: string[] = [];
  for (const operator of keysOf(update)) {
    const parser = PARSERS.get(operator);
    if (operator === '$bit') {
      throw new MongoError(238, '$bit is not supported by embedded-mongo');
    }
    if (parser === undefined && operator !== '$rename') {
      throw new MongoError(
        9,
        `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update specified as an array`,
      );
    }
    const fields = update[operator];
    if (!isDoc(fields)) {
      throw new MongoError(
        9,
        `Modifiers operate on fields but we found type ${typeNameOf(fields)} instead. For example: {$mod: {<field>: ...}}`,
      );
    }
    for (const path of keysOf(fields)) {
      if (parser === undefined) {
        addRename(tree, path, fields[path], filters);
      } else {
        addToTree(tree, path, { kind: 'leaf', modifier: parser(fields[path], path) }, filters);
      }
      paths.push(path);
    }
  }
  checkFiltersUsed(paths, filters);
  sortTree(tree);
  return { tree, isPositional: paths.some((path) => splitPath(path).includes('$')) };
}

function addRename(tree: ObjectNode, from: string, to: unknown, filters: ArrayFilters): void {
  if (typeof to !== 'string') {
    throw new MongoError(2, `The 'to' field for $rename must be a string: ${from}: ${typeNameOf(to)}`);
  }
  const source = splitPath(from);
  const target = splitPath(to);
  if ([...source, ...target].includes('')) {
    throw new MongoError(56, 'An empty update path is not valid.');
  }
  const shorter = Math.min(source.length, target.length);
  if (source.slice(0, shorter).every((part, i) => part === target[i])) {
    throw new MongoError(
      2,
      `The source and target field for $rename must differ and not be on the same path: ${from}`,
    );
  }
  if ([...source, ...target].some((part) => part === '$' || isArrayPart(part))) {
    throw new MongoError(2, `The source and target field for $rename may not be dynamic: ${from}`);
  }
  addToTree(tree, from, { kind: 'reserved' }, filters);
  addToTree(tree, to, { kind: 'rename', from: source }, filters);
}

function checkFiltersUsed(paths: readonly string[], filters: ArrayFilters): void {
  for (const identifier of filters.keys()) {
    const part = `$[${identifier}]`;
    if (!paths.some((path) => splitPath(path).includes(part))) {
      throw new MongoError(9, `The array filter for identifier '${identifier}' was not used in the update`);
    }
  }
}
