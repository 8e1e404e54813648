import { BSONRegExp, Long } from 'bson';
import { MongoError } from '../../errors.js';
import { getField, keysOf } from '../../values/fields.js';
import { isDoc, isNumeric, typeNameOf } from '../../values/types.js';
import type { Doc } from '../../values/types.js';
import { longOf } from '../coerce.js';
import { compileExpression } from '../expression.js';
import { parsePath } from '../field-path.js';
import { valuesAt } from '../local-values.js';
import type { Expression } from '../operator.js';
import type { Collections, Stage, StageCall } from '../stage.js';
import { valueKey } from '../value-key.js';
import { foreignCollection } from './lookup.js';
import { withPath } from './unwind.js';

const options = [
  'from',
  'startWith',
  'connectFromField',
  'connectToField',
  'as',
  'maxDepth',
  'depthField',
  'restrictSearchWithMatch',
];

interface GraphLookup {
  readonly from: string;
  readonly startWith: Expression;
  readonly connectFrom: readonly string[];
  readonly connectTo: string;
  readonly as: readonly string[];
  readonly depthMax: number;
  readonly depthField: readonly string[] | undefined;
  readonly restriction: Doc | undefined;
}

/** `$graphLookup`: a breadth-first walk by equality of two fields. Errors 40100 to 40105, 40185, 40271. */
export function compileGraphLookup(specification: unknown, call: StageCall): Stage {
  const lookup = parseGraphLookup(specification, call);
  return function* graphLookup(input) {
    for (const document of input) {
      yield withPath(document, lookup.as, walk(document, lookup, call.collections));
    }
  };
}

function parseGraphLookup(specification: unknown, call: StageCall): GraphLookup {
  if (!isDoc(specification)) {
    throw new MongoError(
      9,
      `the $graphLookup stage specification must be an object, but found ${typeNameOf(specification)}`,
    );
  }
  const unknown = keysOf(specification).find((key) => !options.includes(key));
  if (unknown !== undefined) {
    throw new MongoError(40104, `Unknown argument to $graphLookup: ${unknown}`);
  }
  if (options.slice(0, 5).some((key) => specification[key] === undefined)) {
    throw new MongoError(
      40105,
      "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.",
    );
  }
  const { restrictSearchWithMatch: restriction, depthField } = specification;
  if (restriction !== undefined && !isDoc(restriction)) {
    throw new MongoError(
      40185,
      `restrictSearchWithMatch must be an object, found ${typeNameOf(restriction)}`,
    );
  }
  return {
    from: foreignCollection(specification.from, call.name),
    startWith: compileExpression(specification.startWith, call.scope),
    connectFrom: parsePath(pathOption(specification, 'connectFromField')),
    connectTo: pathOption(specification, 'connectToField'),
    as: parsePath(pathOption(specification, 'as')),
    depthMax: depthLimit(specification.maxDepth),
    depthField: depthField === undefined ? undefined : parsePath(pathOption(specification, 'depthField')),
    restriction,
  };
}

function pathOption(specification: Doc, key: string): string {
  const path = specification[key];
  if (typeof path !== 'string') {
    throw new MongoError(40103, `expected string as argument for ${key}, found: ${typeNameOf(path)}`);
  }
  return path;
}

function depthLimit(value: unknown): number {
  if (value === undefined) {
    return Infinity;
  }
  if (!isNumeric(value)) {
    throw new MongoError(40100, `maxDepth must be numeric, found type: ${typeNameOf(value)}`);
  }
  const depth = longOf(value);
  if (depth === undefined) {
    throw new MongoError(40102, 'maxDepth could not be represented as a long long');
  }
  if (depth < 0n) {
    throw new MongoError(40101, `maxDepth requires a nonnegative argument, found: ${depth}`);
  }
  return Number(depth);
}

function walk(document: Doc, lookup: GraphLookup, collections: Collections): Doc[] {
  const found = new Map<unknown, Doc>();
  const asked = new Set<unknown>();
  let frontier = newValues(lookup.startWith.evaluate(document), asked);
  for (let depth = 0; frontier.length > 0 && depth <= lookup.depthMax; depth++) {
    let next: unknown[] = [];
    for (const match of collections.lookup(lookup.from, filterOf(frontier, lookup))) {
      const id = getField(match, '_id');
      if (id === undefined) {
        throw new MongoError(
          40271,
          `Documents in the '${lookup.from}' namespace must contain an _id for de-duplication in $graphLookup`,
        );
      }
      const key = valueKey(id);
      if (!found.has(key)) {
        found.set(
          key,
          lookup.depthField === undefined
            ? match
            : withPath(match, lookup.depthField, Long.fromNumber(depth)),
        );
        next = next.concat(newValues(valuesAt(match, lookup.connectFrom), asked));
      }
    }
    frontier = next;
  }
  return [...found.values()];
}

/** The values to follow that were not followed before; an array is followed by its elements. */
function newValues(value: unknown, asked: Set<unknown>): unknown[] {
  const values: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return values.filter((candidate) => {
    const key = valueKey(candidate);
    return !asked.has(key) && !(candidate instanceof BSONRegExp) && asked.add(key).has(key);
  });
}

function filterOf(frontier: readonly unknown[], { connectTo, restriction }: GraphLookup): Doc {
  const connected = { [connectTo]: { $in: frontier } };
  return restriction === undefined ? connected : { $and: [connected, restriction] };
}
