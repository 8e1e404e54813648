import { MongoError } from '../errors.js';
import { copyDoc, deleteField, docOf, getField, hasField, setField } from '../values/fields.js';
import { hasIdenticalBytes } from '../values/identical.js';
import { parseArrayIndex } from '../values/paths.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';

/** Limit of array padding, as in MongoDB. */
const PADDING_MAX = 1_500_000;

/** A value in a draft, with its path back to the root. */
export interface DraftLocation {
  value: unknown;
  readonly parent: DraftLocation | undefined;
  readonly key: string;
}

/**
 * A document under change. Parts are copied before they are written, so the original stays
 * unchanged.
 */
export class Draft {
  readonly root: DraftLocation;
  readonly #owned = new Set<unknown>();

  constructor(doc: Doc) {
    this.root = { value: doc, parent: undefined, key: '' };
  }

  get doc(): Doc {
    return this.root.value as Doc;
  }

  /** The child of an object or array, or undefined. */
  child(place: DraftLocation, key: string): DraftLocation | undefined {
    const { value } = place;
    if (Array.isArray(value)) {
      const index = parseArrayIndex(key);
      return index >= 0 && index < value.length ? { value: value[index], parent: place, key } : undefined;
    }
    return isDoc(value) && hasField(value, key)
      ? { value: getField(value, key), parent: place, key }
      : undefined;
  }

  /** Replaces the value at a place. A value with identical bytes is no change. */
  replace(place: DraftLocation, value: unknown): void {
    if (!hasIdenticalBytes(place.value, value)) {
      this.put(place, value);
    }
  }

  /** Replaces the value at a place. The document always counts as changed. */
  put(place: DraftLocation, value: unknown): void {
    if (place.parent !== undefined) {
      this.#put(place.parent, place.key, value);
      place.value = value;
    }
  }

  /** Removes a field. An array element becomes null. */
  remove(place: DraftLocation): void {
    if (place.parent === undefined) {
      return;
    }
    if (Array.isArray(place.parent.value)) {
      this.replace(place, null);
    } else {
      deleteField(this.#own(place.parent) as Doc, place.key);
    }
  }

  /**
   * Creates the missing parts below a place. @throws 28 if the place is not an object or array, or
   * cannot have such an element.
   */
  create(place: DraftLocation, missing: readonly string[], value: unknown): void {
    const [key = '', ...rest] = missing;
    this.checkViable(place, key);
    const inner = rest.reduceRight((nested: unknown, part) => docOf([[part, nested]]), value);
    this.#put(place, key, inner);
  }

  /** @throws 28 (PathNotViable) if no field `key` can be created there. */
  checkViable(place: DraftLocation, key: string): void {
    const { value } = place;
    if (Array.isArray(value) ? parseArrayIndex(key) < 0 : !isDoc(value)) {
      throw new MongoError(
        28,
        `Cannot create field '${key}' in element {${place.key}: ${typeNameOf(value)}}`,
      );
    }
  }

  #put(place: DraftLocation, key: string, value: unknown): void {
    const container = this.#own(place);
    if (!Array.isArray(container)) {
      setField(container, key, value);
      return;
    }
    const index = parseArrayIndex(key);
    if (index > container.length + PADDING_MAX) {
      throw new MongoError(2, `can't backfill more than ${PADDING_MAX} elements`);
    }
    while (container.length < index) {
      container.push(null);
    }
    container[index] = value;
  }

  /**
   * Returns the object or array at a place. It is copied first if it still belongs to the original.
   */
  #own(place: DraftLocation): Doc | unknown[] {
    const { parent, key } = place;
    const container = parent === undefined ? undefined : this.#own(parent);
    // A $rename may have copied this place already.
    const value = (container === undefined ? place.value : readChild(container, key)) as Doc | unknown[];
    place.value = value;
    if (this.#owned.has(value)) {
      return value;
    }
    const copy = Array.isArray(value) ? [...value] : copyDoc(value);
    this.#owned.add(copy);
    place.value = copy;
    if (parent !== undefined) {
      this.#put(parent, key, copy);
    }
    return copy;
  }
}

function readChild(container: Doc | unknown[], key: string): unknown {
  return Array.isArray(container) ? container[parseArrayIndex(key)] : getField(container, key);
}
