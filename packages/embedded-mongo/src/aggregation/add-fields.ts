import { MongoError } from '../errors.js';
import { keysOf } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import { compileExpression } from './expression.js';
import { parsePath } from './field-path.js';
import { constant, type Scope } from './operator.js';
import { addLeaf, computeFields, createBranch, type Branch } from './projection-tree.js';

/**
 * Compiles `$addFields` and `$set`, for pipelines and for pipeline updates. The compiled function
 * changes a copy of the document.
 * @throws MongoError 40272 if the specification is not an object, 40176 if two paths collide, 40181
 * or 40183 for an invalid nested object, and the errors of paths and expressions.
 */
export function compileAddFields(specification: unknown, name: string, scope: Scope): (document: Doc) => Doc {
  if (!isDoc(specification)) {
    throw new MongoError(40272, `${name} specification stage must be an object`);
  }
  const tree = createBranch();
  addAll(specification, [], tree, scope);
  return (document) => computeFields(tree, document);
}

function addAll(fields: Doc, prefix: readonly string[], tree: Branch, scope: Scope): void {
  for (const key of keysOf(fields)) {
    if (prefix.length > 0 && key.includes('.')) {
      throw new MongoError(40183, `cannot use dotted field name '${key}' in a sub object`);
    }
    const parts = [...prefix, ...parsePath(key)];
    const value = fields[key];
    if (isDoc(value) && isNested(value)) {
      addAll(value, parts, tree, scope);
    } else {
      const expression =
        isDoc(value) && keysOf(value).length === 0 ? constant({}) : compileExpression(value, scope);
      addComputed(tree, parts, { kind: 'compute', expression });
    }
  }
}

/** True for an object that contains nested fields and no operator: `{a: {b: 1}}` sets `a.b`. */
function isNested(value: Doc): boolean {
  const keys = keysOf(value);
  const operator = keys.find((key) => key.startsWith('$'));
  if (operator !== undefined && keys.length > 1) {
    throw new MongoError(40181, `an object of an expression must have exactly one field: ${operator}`);
  }
  return operator === undefined && keys.length > 0;
}

function addComputed(tree: Branch, parts: readonly string[], leaf: Parameters<typeof addLeaf>[2]): void {
  try {
    addLeaf(tree, parts, leaf);
  } catch (error) {
    if (error instanceof MongoError && (error.code === 31249 || error.code === 31250)) {
      throw new MongoError(40176, `Invalid specification: ${error.message}`);
    }
    throw error;
  }
}
