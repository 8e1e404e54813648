import type { Doc } from './types.js';

/**
 * The field order of an object with an integer key after another key. JS does not keep that order.
 */
const ORDER = Symbol('field order');

interface Ordered {
  [ORDER]?: string[];
}

/**
 * The value of a field. Undefined for a missing field and for a stored `undefined`; use `hasField`
 * to distinguish them.
 */
export function getField(doc: Doc, key: string): unknown {
  const value = doc[key];
  // Stored values are never functions or Object.prototype, so these are inherited: `{}.toString`,
  // `{}.__proto__`.
  return typeof value === 'function' || value === Object.prototype ? undefined : value;
}

export function hasField(doc: Doc, key: string): boolean {
  return Object.hasOwn(doc, key);
}

/** Sets a field in place. A new field comes last, even if its name is an integer or `__proto__`. */
export function setField(doc: Doc, key: string, value: unknown): void {
  if (isIntegerKey(key) && !Object.hasOwn(doc, key)) {
    const keys = keysOf(doc);
    const last = keys.at(-1);
    if (last !== undefined && !(isIntegerKey(last) && Number(last) < Number(key))) {
      setOrder(doc, [...keys, key]);
    }
  }
  if (key === '__proto__') {
    Object.defineProperty(doc, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    doc[key] = value;
  }
}

/** Removes a field in place. */
export function deleteField(doc: Doc, key: string): void {
  const order = (doc as Ordered)[ORDER];
  if (order !== undefined) {
    setOrder(
      doc,
      order.filter((name) => name !== key),
    );
  }
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- documents are dictionaries by nature
  delete doc[key];
}

/** Field names in document order. */
export function keysOf(doc: Doc): string[] {
  const keys = Object.keys(doc);
  const first = keys[0];
  // JS lists integer keys first. An order is recorded only if the first key is an integer.
  if (first === undefined || !startsWithDigit(first)) {
    return keys;
  }
  const order = (doc as Ordered)[ORDER];
  if (order === undefined) {
    return keys;
  }
  const known = new Set(order);
  const ordered = order.filter((key) => Object.hasOwn(doc, key));
  return ordered.length === keys.length ? ordered : [...ordered, ...keys.filter((key) => !known.has(key))];
}

/** Records the order of fields. Only needed where an integer key follows another key. */
export function setOrder(doc: Doc, order: string[]): void {
  Object.defineProperty(doc, ORDER, { value: order, configurable: true, writable: true, enumerable: false });
}

/** A shallow copy with the same field order. */
export function copyDoc(doc: Doc): Doc {
  const copy: Doc = { ...doc };
  const order = (doc as Ordered)[ORDER];
  if (order !== undefined) {
    setOrder(copy, order);
  }
  return copy;
}

/** Creates a document with these fields in this order. */
export function docOf(entries: Iterable<readonly [string, unknown]>): Doc {
  const doc: Doc = {};
  for (const [key, value] of entries) {
    setField(doc, key, value);
  }
  return doc;
}

function startsWithDigit(key: string): boolean {
  const code = key.charCodeAt(0);
  return code >= 48 && code <= 57;
}

/** True for an array index in the sense of JS, which lists these keys before all others. */
export function isIntegerKey(key: string): boolean {
  if (!startsWithDigit(key)) {
    return false;
  }
  return key.length < 11 && String(Number(key)) === key && Number(key) < 4294967295;
}
