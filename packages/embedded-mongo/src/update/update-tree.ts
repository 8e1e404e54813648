import { MongoError } from '../errors.js';
import { compareStrings } from '../values/compare.js';
import { parseArrayIndex, splitPath } from '../values/paths.js';
import type { ArrayFilters } from './array-filters.js';
import type { Modifier } from './modifier.js';

/**
 * The modifiers of an update as a tree of paths. Fields are visited in the order of their names.
 * The order of new fields therefore does not depend on the order of the operators.
 */
export type UpdateNode = ObjectNode | ArrayNode | LeafNode;

export interface ObjectNode {
  readonly kind: 'object';
  /**
   * The children by name. Once the tree is complete, they are in the order of `comparePathParts`.
   */
  readonly children: Map<string, UpdateNode>;
  /** The child for `$`, which stands for the array element that the filter matched. */
  positional: UpdateNode | undefined;
}

export interface ArrayNode {
  readonly kind: 'array';
  /**
   * The children by the identifier of an array filter. An empty identifier stands for all elements.
   */
  readonly children: Map<string, UpdateNode>;
}

export type LeafNode =
  | { readonly kind: 'leaf'; readonly modifier: Modifier }
  | { readonly kind: 'rename'; readonly from: readonly string[] }
  /**
   * The source of a `$rename`. It has no effect and only reveals conflicts with other modifiers.
   */
  | { readonly kind: 'reserved' };

export function objectNode(): ObjectNode {
  return { kind: 'object', children: new Map(), positional: undefined };
}

/**
 * Adds a leaf.
 * @throws MongoError 56 for an empty field name. 2 for an invalid positional part, or for an
 * identifier without an array filter. 40 if another modifier has the same path, or a path above or
 * below it.
 */
export function addToTree(root: ObjectNode, path: string, leaf: LeafNode, filters: ArrayFilters): void {
  const parts = splitPath(path);
  checkPath(path, parts, filters);
  let node: ObjectNode | ArrayNode = root;
  for (const [i, part] of parts.entries()) {
    const child = getChild(node, part);
    if (i === parts.length - 1) {
      if (child !== undefined) {
        throw createPathConflictError(path, parts, i);
      }
      setChild(node, part, leaf);
      return;
    }
    const kind = isArrayPart(parts[i + 1] ?? '') ? 'array' : 'object';
    if (child === undefined) {
      const inner: ObjectNode | ArrayNode = kind === 'array' ? { kind, children: new Map() } : objectNode();
      setChild(node, part, inner);
      node = inner;
    } else if (child.kind === 'object' || child.kind === 'array') {
      if (child.kind !== kind) {
        throw createPathConflictError(path, parts, i);
      }
      node = child;
    } else {
      throw createPathConflictError(path, parts, i);
    }
  }
}

function createPathConflictError(path: string, parts: readonly string[], depth: number): MongoError {
  const at = parts.slice(0, depth + 1).join('.');
  return new MongoError(40, `Updating the path '${path}' would create a conflict at '${at}'`);
}

function checkPath(path: string, parts: readonly string[], filters: ArrayFilters): void {
  if (parts.includes('')) {
    throw new MongoError(56, `The update path '${path}' contains an empty field name, which is not allowed.`);
  }
  if (parts[0] === '$' || isArrayPart(parts[0] ?? '')) {
    throw new MongoError(2, `Cannot have a positional element in the first position in path '${path}'`);
  }
  if (parts.filter((part) => part === '$').length > 1) {
    throw new MongoError(2, `Too many positional (i.e. '$') elements found in path '${path}'`);
  }
  for (const part of parts) {
    const identifier = isArrayPart(part) ? part.slice(2, -1) : '';
    if (identifier !== '' && !filters.has(identifier)) {
      throw new MongoError(2, `No array filter found for identifier '${identifier}' in path '${path}'`);
    }
  }
}

/** True for `$[]` and for `$[identifier]`. */
export function isArrayPart(part: string): boolean {
  return part.startsWith('$[') && part.endsWith(']');
}

function getChild(node: ObjectNode | ArrayNode, part: string): UpdateNode | undefined {
  if (node.kind === 'array') {
    return node.children.get(part.slice(2, -1));
  }
  return part === '$' ? node.positional : node.children.get(part);
}

function setChild(node: ObjectNode | ArrayNode, part: string, child: UpdateNode): void {
  if (node.kind === 'array') {
    node.children.set(part.slice(2, -1), child);
  } else if (part === '$') {
    node.positional = child;
  } else {
    node.children.set(part, child);
  }
}

/** Sorts the children of all nodes. */
export function sortTree(node: UpdateNode): void {
  if (node.kind !== 'object' && node.kind !== 'array') {
    return;
  }
  if (!isSorted(node.children.keys())) {
    const entries = [...node.children].sort(([a], [b]) => comparePathParts(a, b));
    node.children.clear();
    for (const [part, child] of entries) {
      node.children.set(part, child);
    }
  }
  for (const child of node.children.values()) {
    sortTree(child);
  }
  if (node.kind === 'object' && node.positional !== undefined) {
    sortTree(node.positional);
  }
}

function isSorted(parts: Iterable<string>): boolean {
  let last: string | undefined;
  for (const part of parts) {
    if (last !== undefined && comparePathParts(last, part) > 0) {
      return false;
    }
    last = part;
  }
  return true;
}

/**
 * Compares two path parts. Array indexes are compared as numbers, and other names by their bytes.
 */
export function comparePathParts(a: string, b: string): number {
  const x = parseArrayIndex(a);
  const y = parseArrayIndex(b);
  return x >= 0 && y >= 0 ? x - y : compareStrings(a, b);
}

/**
 * Merges two nodes for the same path.
 * @throws MongoError 40 if both modify the same field.
 */
export function mergeNodes(a: UpdateNode, b: UpdateNode, path: string): UpdateNode {
  if (a.kind === 'object' && b.kind === 'object') {
    const merged = objectNode();
    mergeChildren(a.children, b.children, merged.children, path);
    merged.positional =
      a.positional !== undefined && b.positional !== undefined
        ? mergeNodes(a.positional, b.positional, `${path}.$`)
        : (a.positional ?? b.positional);
    sortTree(merged);
    return merged;
  }
  if (a.kind === 'array' && b.kind === 'array') {
    const merged: ArrayNode = { kind: 'array', children: new Map() };
    mergeChildren(a.children, b.children, merged.children, path);
    return merged;
  }
  throw new MongoError(40, `Update created a conflict at '${path}'`);
}

function mergeChildren(
  a: ReadonlyMap<string, UpdateNode>,
  b: ReadonlyMap<string, UpdateNode>,
  into: Map<string, UpdateNode>,
  path: string,
): void {
  for (const part of new Set([...a.keys(), ...b.keys()])) {
    const left = a.get(part);
    const right = b.get(part);
    const child =
      left !== undefined && right !== undefined
        ? mergeNodes(left, right, `${path}.${part}`)
        : (left ?? right);
    if (child !== undefined) {
      into.set(part, child);
    }
  }
}
