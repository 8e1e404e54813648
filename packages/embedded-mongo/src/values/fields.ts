import type { Doc } from './types.js';

/**
 * The key under which a document stores its field order. Only documents with an integer key after
 * another key need it, because JS lists integer keys first.
 */
const ORDER = Symbol('field order');

interface Ordered {
  [ORDER]?: string[];
}

/**
 * Returns the value of a field. The result is undefined both for a missing field and for a stored
 * `undefined`. `hasField` distinguishes the two.
 */
export function getField(doc: Doc, key: string): unknown {
  const value = doc[key];
  // A stored value is never a function or Object.prototype. Such a value is inherited, for example
  // `{}.toString` or `{}.__proto__`.
  return typeof value === 'function' || value === Object.prototype ? undefined : value;
}

export function hasField(doc: Doc, key: string): boolean {
  return Object.hasOwn(doc, key);
}

/**
 * Sets a field of the document. A new field becomes the last one, even if its name is an integer or
 * `__proto__`.
 */
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

/** Removes a field from the document. */
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

/** Returns the field names in the order of the document. */
export function keysOf(doc: Doc): string[] {
  const keys = Object.keys(doc);
  const first = keys[0];
  // JS lists integer keys first. If the first key is not an integer, no order was recorded.
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

/**
 * Records the order of the fields. This is only necessary if an integer key follows another key.
 */
export function setOrder(doc: Doc, order: string[]): void {
  Object.defineProperty(doc, ORDER, { value: order, configurable: true, writable: true, enumerable: false });
}

/** Returns a shallow copy with the same field order. */
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

/** True if JS treats the key as an array index and therefore lists it before all other keys. */
export function isIntegerKey(key: string): boolean {
  if (!startsWithDigit(key)) {
    return false;
  }
  return key.length < 11 && String(Number(key)) === key && Number(key) < 4294967295;
}
