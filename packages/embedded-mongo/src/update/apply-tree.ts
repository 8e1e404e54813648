import type { Timestamp } from 'bson';
import { MongoError } from '../errors.js';
import type { Doc } from '../values/types.js';
import type { ArrayFilters } from './array-filters.js';
import { Draft, type DraftLocation } from './draft.js';
import { REMOVE, type Modifier } from './modifier.js';
import { renameField } from './rename-field.js';
import {
  comparePathParts,
  mergeNodes,
  type ArrayNode,
  type ObjectNode,
  type UpdateNode,
} from './update-tree.js';

export interface ApplyOptions {
  readonly filters: ArrayFilters;
  /** The index of the array element that the filter matched, for the positional operator. */
  readonly position: number | undefined;
  /** True if the modifiers are applied to the new document of an upsert. */
  readonly insert: boolean;
  readonly now: Date;
  readonly timestamp: Timestamp;
}

/** Applies all modifiers to a document. Returns the same document if nothing changes. */
export function applyTree(tree: ObjectNode, doc: Doc, options: ApplyOptions): Doc {
  const run = new Run(new Draft(doc), options);
  run.node(tree, { place: run.draft.root, missing: [], path: '' });
  return run.draft.doc;
}

/**
 * The position of a node in the document: the deepest existing value on the path, and the path
 * parts below it that do not exist.
 */
interface Position {
  readonly place: DraftLocation;
  readonly missing: readonly string[];
  readonly path: string;
}

class Run {
  constructor(
    readonly draft: Draft,
    readonly options: ApplyOptions,
  ) {}

  node(node: UpdateNode, position: Position): void {
    switch (node.kind) {
      case 'object':
        this.#object(node, position);
        return;
      case 'array':
        this.#array(node, position);
        return;
      case 'leaf':
        this.#leaf(node.modifier, position);
        return;
      case 'rename':
        renameField(this.draft, node.from, position);
        return;
      case 'reserved':
    }
  }

  #object(node: ObjectNode, position: Position): void {
    for (const [part, child] of this.#children(node, position.path)) {
      this.node(child, this.#below(position, part));
    }
  }

  /** Returns the children in order. The child `$` gets the index of the matched array element. */
  #children(node: ObjectNode, path: string): Iterable<readonly [string, UpdateNode]> {
    if (node.positional === undefined) {
      return node.children;
    }
    if (this.options.position === undefined) {
      throw new MongoError(2, 'The positional operator did not find the match needed from the query.');
    }
    const part = String(this.options.position);
    const named = node.children.get(part);
    const child =
      named === undefined ? node.positional : mergeNodes(named, node.positional, `${path}.${part}`);
    const children = new Map(node.children).set(part, child);
    return [...children].sort(([a], [b]) => comparePathParts(a, b));
  }

  /**
   * Returns the position of a child. Missing parts are looked up again, because another child may
   * have created them meanwhile.
   */
  #below(position: Position, part: string): Position {
    let { place, missing } = position;
    missing = [...missing, part];
    for (;;) {
      const [next] = missing;
      const child = next === undefined ? undefined : this.draft.child(place, next);
      if (child === undefined) {
        const path = position.path === '' ? part : `${position.path}.${part}`;
        return { place, missing, path };
      }
      place = child;
      missing = missing.slice(1);
    }
  }

  #array(node: ArrayNode, { place, missing, path }: Position): void {
    if (missing.length > 0) {
      throw new MongoError(
        2,
        `The path '${path}' must exist in the document in order to apply array updates.`,
      );
    }
    const array = place.value;
    if (!Array.isArray(array)) {
      throw new MongoError(2, `Cannot apply array updates to non-array element ${path}`);
    }
    const elements = array as readonly unknown[];
    const updates = elements.map((element, i) => {
      const chosen = [...node.children].filter(([identifier]) => {
        return identifier === '' || this.options.filters.get(identifier)?.(element) === true;
      });
      return chosen
        .map(([, child]) => child)
        .reduce<UpdateNode | undefined>(
          (merged, child) => (merged === undefined ? child : mergeNodes(merged, child, `${path}.${i}`)),
          undefined,
        );
    });
    for (const [i, update] of updates.entries()) {
      if (update !== undefined) {
        this.node(update, this.#below({ place, missing, path }, String(i)));
      }
    }
  }

  #leaf(modifier: Modifier, { place, missing, path }: Position): void {
    if (modifier.insertOnly === true && !this.options.insert) {
      return;
    }
    const context = { path, doc: this.draft.doc, now: this.options.now, timestamp: this.options.timestamp };
    const [next] = missing;
    if (next === undefined) {
      const value = modifier.change(place.value, context);
      if (value === REMOVE) {
        this.draft.remove(place);
      } else if (modifier.countsCopies !== true) {
        this.draft.replace(place, value);
      } else if (value !== place.value) {
        this.draft.put(place, value);
      }
    } else if (modifier.create !== undefined) {
      this.draft.create(place, missing, modifier.create(context));
    } else if (modifier.toleratesBlockedPath !== true) {
      this.draft.checkViable(place, next);
    }
  }
}
