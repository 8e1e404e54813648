import { MongoError } from '../errors.js';
import { copyDoc, deleteField, getField, hasField, keysOf, setField } from '../values/fields.js';
import { isDoc, type Doc } from '../values/types.js';
import type { Expression } from './operator.js';

/**
 * The action of a projection at a path. `apply` is for `$slice` and `$elemMatch`, which only `find`
 * has: it maps the stored value to the projected one, or returns `undefined` to remove the field.
 */
export type Leaf =
  | { readonly kind: 'include' }
  | { readonly kind: 'exclude' }
  | { readonly kind: 'compute'; readonly expression: Expression }
  | { readonly kind: 'apply'; readonly apply: (value: unknown, root: Doc) => unknown };

/** An inner node of a projection. Its fields are in the order of the specification. */
export interface Branch {
  readonly fields: Map<string, Leaf | Branch>;
  /**
   * True if a field below this node is computed. Documents that are missing on the path to that
   * field are then created.
   */
  computes: boolean;
}

export function createBranch(): Branch {
  return { fields: new Map(), computes: false };
}

export function isBranch(node: Leaf | Branch | undefined): node is Branch {
  return node !== undefined && 'fields' in node;
}

/**
 * Adds a leaf at a path.
 * @throws MongoError 31249 or 31250 if the path collides with another one.
 */
export function addLeaf(root: Branch, parts: readonly string[], leaf: Leaf): void {
  let branch = root;
  parts.forEach((name, index) => {
    branch.computes ||= leaf.kind === 'compute';
    const existing = branch.fields.get(name);
    if (index === parts.length - 1) {
      if (existing !== undefined) {
        throw new MongoError(31250, `Path collision at ${parts.join('.')}`);
      }
      branch.fields.set(name, leaf);
    } else if (existing === undefined) {
      const next = createBranch();
      branch.fields.set(name, next);
      branch = next;
    } else if (isBranch(existing)) {
      branch = existing;
    } else {
      const rest = parts.slice(index + 1).join('.');
      throw new MongoError(31249, `Path collision at ${parts.join('.')} remaining portion ${rest}`);
    }
  });
}

/**
 * Keeps the included fields in the order of the document. The computed fields follow in the order
 * of the specification. `_id` is always first. Returns a new document.
 */
export function includeFields(tree: Branch, document: Doc): Doc {
  const kept = keepIncluded(tree, document, document);
  if (!tree.computes) {
    return moveIdFirst(kept);
  }
  return moveIdFirst(computeInto(tree, kept, document));
}

function moveIdFirst(document: Doc): Doc {
  const keys = keysOf(document);
  if (keys[0] === '_id' || !hasField(document, '_id')) {
    return document;
  }
  const reordered: Doc = { _id: document._id };
  for (const key of keys) {
    if (key !== '_id') {
      setField(reordered, key, document[key]);
    }
  }
  return reordered;
}

function keepIncluded(branch: Branch, document: Doc, root: Doc): Doc {
  const kept: Doc = {};
  for (const key of keysOf(document)) {
    const node = branch.fields.get(key);
    if (node === undefined) {
      continue;
    }
    const value = document[key];
    if (isBranch(node)) {
      const inner = includedValue(node, value, root);
      if (inner !== undefined) {
        setField(kept, key, inner);
      }
    } else if (node.kind === 'include') {
      setField(kept, key, value);
    } else if (node.kind === 'apply') {
      const made = node.apply(value, root);
      if (made !== undefined) {
        setField(kept, key, made);
      }
    }
  }
  return kept;
}

/**
 * Projects the value of a branch. Documents keep their included fields. Other values are removed,
 * including those in arrays at any depth.
 */
function includedValue(branch: Branch, value: unknown, root: Doc): unknown {
  if (isDoc(value)) {
    return keepIncluded(branch, value, root);
  }
  if (!Array.isArray(value)) {
    return undefined;
  }
  const kept = value.map((element) => includedValue(branch, element, root));
  // Computing a field replaces a removed element with a new document, so the positions do not
  // change.
  return branch.computes ? kept : kept.filter((element) => element !== undefined);
}

/**
 * Returns a copy of the document with the computed fields, for `$addFields`. All other fields stay
 * unchanged.
 */
export function computeFields(tree: Branch, document: Doc): Doc {
  return computeInto(tree, copyDoc(document), document);
}

function computeInto(branch: Branch, target: Doc, root: Doc): Doc {
  for (const [name, node] of branch.fields) {
    if (isBranch(node)) {
      if (node.computes) {
        setField(target, name, computedValue(node, getField(target, name), root));
      }
    } else if (node.kind === 'compute') {
      const value = node.expression.evaluate(root);
      if (value !== undefined) {
        setField(target, name, value);
      } else if (hasField(target, name)) {
        deleteField(target, name);
      }
    }
  }
  return target;
}

/**
 * Sets a computed field at a path below this value. In an array, it is set in every element. Any
 * other value that is not a document is replaced by a new document.
 */
function computedValue(branch: Branch, value: unknown, root: Doc): unknown {
  if (Array.isArray(value)) {
    return value.map((element) => computedValue(branch, element, root));
  }
  return computeInto(branch, isDoc(value) ? copyDoc(value) : {}, root);
}

/** Removes the excluded fields. Returns the same document if it has none of them. */
export function excludeFields(tree: Branch, document: Doc): Doc {
  return removeExcluded(tree, document, document);
}

function removeExcluded(branch: Branch, document: Doc, root: Doc): Doc {
  let copy: Doc | undefined;
  for (const [name, node] of branch.fields) {
    if (!hasField(document, name)) {
      continue;
    }
    const value = document[name];
    const left = isBranch(node) ? excludedValue(node, value, root) : applyLeaf(node, value, root);
    if (left !== value || (left === undefined && !isBranch(node))) {
      copy ??= copyDoc(document);
      if (left === undefined) {
        deleteField(copy, name);
      } else {
        setField(copy, name, left);
      }
    }
  }
  return copy ?? document;
}

function applyLeaf(leaf: Leaf, value: unknown, root: Doc): unknown {
  switch (leaf.kind) {
    case 'exclude':
      return undefined;
    case 'apply':
      return leaf.apply(value, root);
    case 'include':
    case 'compute':
      return value;
  }
}

function excludedValue(branch: Branch, value: unknown, root: Doc): unknown {
  if (isDoc(value)) {
    return removeExcluded(branch, value, root);
  }
  if (!Array.isArray(value)) {
    return value;
  }
  const left = value.map((element) => excludedValue(branch, element, root));
  return left.every((element, index) => element === value[index]) ? value : left;
}
