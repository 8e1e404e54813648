import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import { isDoc, isNumeric, type Doc } from '../values/types.js';
import { isTruthy } from './coerce.js';
import { compileExpression } from './expression.js';
import { parsePath } from './field-path.js';
import type { Scope } from './operator.js';
import { expressionOperators } from './operators/registry.js';
import {
  addLeaf,
  createBranch,
  excludeFields,
  includeFields,
  isBranch,
  type Branch,
  type Leaf,
} from './projection-tree.js';

/** Maps a document to the projected document. The original document is not changed. */
export type Projection = (document: Doc) => Doc;

type Mode = 'include' | 'exclude';

export interface ProjectionOptions {
  readonly scope: Scope;
  /**
   * Parses the syntax that only `find` has for a field (`$slice`, `$elemMatch`). Returns the leaf,
   * and also the mode of the whole projection if the syntax implies one.
   */
  readonly special?: (path: string, value: unknown) => { leaf: Leaf; mode?: Mode } | undefined;
}

interface Parser extends ProjectionOptions {
  readonly tree: Branch;
  mode: Mode | undefined;
  id: 'unsaid' | 'included' | 'excluded' | 'computed';
}

/**
 * Compiles a projection, which either includes or excludes fields.
 * @throws MongoError 51272 if it is empty, 31253 or 31254 if it mixes both modes, 31252 or 31310
 * for an expression in an exclusion, 31249 or 31250 if two paths collide, 31325 for an unknown
 * expression, and the errors of `parsePath`.
 */
export function parseProjection(specification: Doc, options: ProjectionOptions): Projection {
  const tree = createBranch();
  const parser: Parser = { ...options, tree, mode: undefined, id: 'unsaid' };
  for (const key of keysOf(specification)) {
    parseField({ key, value: specification[key], prefix: [] }, parser);
  }
  const mode = parser.mode ?? (parser.id === 'included' || parser.id === 'computed' ? 'include' : 'exclude');
  if (mode === 'exclude') {
    // In an exclusion, `{_id: 1}` has no effect, because `_id` is kept by default.
    if (parser.id === 'included') {
      tree.fields.delete('_id');
    }
    return (document) => excludeFields(tree, document);
  }
  if (parser.id === 'excluded') {
    tree.fields.delete('_id');
  } else if (!tree.fields.has('_id')) {
    tree.fields.set('_id', { kind: 'include' });
  }
  return (document) => includeFields(tree, document);
}

interface FieldSpecification {
  readonly key: string;
  readonly value: unknown;
  readonly prefix: readonly string[];
}

function parseField({ key, value, prefix }: FieldSpecification, parser: Parser): void {
  if (parser.special === undefined) {
    refuseFindSyntax(key, value);
  }
  const special = prefix.length === 0 ? parser.special?.(key, value) : undefined;
  if (special !== undefined) {
    if (special.mode !== undefined) {
      setMode(parser, special.mode, key);
    }
    addLeaf(parser.tree, parsePath(key), special.leaf);
    return;
  }
  const parts = [...prefix, ...parsePath(key)];
  const isId = parts.length === 1 && key === '_id';
  if (typeof value === 'boolean' || isNumeric(value)) {
    parseFlag(parts, isTruthy(value), isId ? 'id' : 'field', parser);
  } else if (isDoc(value) && !isOperator(value)) {
    parseNested(parts, value, parser);
  } else {
    parseComputed(parts, value, parser);
  }
}

/** Throws if `$project` uses syntax that only the projections of `find` have. */
function refuseFindSyntax(key: string, value: unknown): void {
  if (key.endsWith('.$') || key.includes('.$.')) {
    throw new MongoError(31324, 'Cannot use positional projection in aggregation projection');
  }
  if (isDoc(value) && '$elemMatch' in value) {
    throw new MongoError(168, 'Cannot use $elemMatch in this context');
  }
}

function parseFlag(parts: readonly string[], included: boolean, role: 'id' | 'field', parser: Parser): void {
  addLeaf(parser.tree, parts, { kind: included ? 'include' : 'exclude' });
  if (role === 'id') {
    parser.id = included ? 'included' : 'excluded';
  } else {
    setMode(parser, included ? 'include' : 'exclude', parts.join('.'));
  }
}

function setMode(parser: Parser, mode: Mode, path: string): void {
  if (parser.mode !== undefined && parser.mode !== mode) {
    throw mode === 'include'
      ? new MongoError(31253, `Cannot do inclusion on field ${path} in exclusion projection`)
      : new MongoError(31254, `Cannot do exclusion on field ${path} in inclusion projection`);
  }
  parser.mode = mode;
}

function isOperator(value: Doc): boolean {
  const keys = keysOf(value);
  return keys.length === 1 && keys[0]?.startsWith('$') === true;
}

/** Parses a nested projection: `{a: {b: 1}}` is equivalent to `{'a.b': 1}`. */
function parseNested(parts: readonly string[], value: Doc, parser: Parser): void {
  const keys = keysOf(value);
  if (keys.length === 0) {
    throw new MongoError(
      51270,
      `An empty sub-projection is not a valid value. Found at path ${parts.join('.')}`,
    );
  }
  if (isBranch(findNode(parser.tree, parts))) {
    throw new MongoError(31250, `Path collision at ${parts.join('.')}`);
  }
  for (const key of keys) {
    parseField({ key, value: value[key], prefix: parts }, parser);
  }
}

function findNode(tree: Branch, parts: readonly string[]): Leaf | Branch | undefined {
  let node: Leaf | Branch | undefined = tree;
  for (const part of parts) {
    node = isBranch(node) ? node.fields.get(part) : undefined;
  }
  return node;
}

function parseComputed(parts: readonly string[], value: unknown, parser: Parser): void {
  const operator = isDoc(value) ? keysOf(value)[0] : undefined;
  if (operator !== undefined && !expressionOperators.has(operator)) {
    throw new MongoError(31325, `Unknown expression ${operator}`);
  }
  if (parser.mode === 'exclude') {
    throw operator === undefined
      ? new MongoError(31310, `Cannot use an expression in an exclusion projection: ${parts.join('.')}`)
      : new MongoError(31252, 'Cannot use expression other than $meta in exclusion projection');
  }
  const expression = compileExpression(value, parser.scope);
  addLeaf(parser.tree, parts, { kind: 'compute', expression });
  parser.mode = 'include';
  if (parts.length === 1 && parts[0] === '_id') {
    parser.id = 'computed';
  }
}
