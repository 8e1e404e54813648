import { MongoError } from '../errors.js';
import { copyDoc, deleteField, docOf, getField, hasField, setField } from '../values/fields.js';
import { hasIdenticalBytes } from '../values/identical.js';
import { parseArrayIndex } from '../values/paths.js';
import { isDoc, typeNameOf, type Doc } from '../values/types.js';

/**
 * How many elements an update may append to an array to reach an index. MongoDB has the same limit.
 */
const PADDING_MAX = 1_500_000;

/** A value in a draft. `parent` and `key` lead to the root of the draft. */
export interface DraftLocation {
  value: unknown;
  readonly parent: DraftLocation | undefined;
  readonly key: string;
}

/**
 * A document that is being changed. Each part is copied before its first change, so the original
 * document stays unchanged.
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

  /** Returns the field of an object or the element of an array. Undefined if it does not exist. */
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

  /** Replaces a value. The document counts as changed only if the bytes of the new value differ. */
  replace(place: DraftLocation, value: unknown): void {
    if (!hasIdenticalBytes(place.value, value)) {
      this.put(place, value);
    }
  }

  /** Replaces a value. The document always counts as changed. */
  put(place: DraftLocation, value: unknown): void {
    if (place.parent !== undefined) {
      this.#put(place.parent, place.key, value);
      place.value = value;
    }
  }

  /** Removes a field. An array element is replaced by null. */
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
   * Creates the missing parts of a path.
   * @throws MongoError 28 (PathNotViable) if no such field or element can be created in the
   * existing value.
   */
  create(place: DraftLocation, missing: readonly string[], value: unknown): void {
    const [key = '', ...rest] = missing;
    this.checkViable(place, key);
    const inner = rest.reduceRight((nested: unknown, part) => docOf([[part, nested]]), value);
    this.#put(place, key, inner);
  }

  /** @throws MongoError 28 (PathNotViable) if the value cannot have a field or element `key`. */
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
   * Returns an object or array of the draft that may be changed. A part of the original document is
   * copied first.
   */
  #own(place: DraftLocation): Doc | unknown[] {
    const { parent, key } = place;
    const container = parent === undefined ? undefined : this.#own(parent);
    // Read the value again, because a `$rename` may have copied it already.
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
