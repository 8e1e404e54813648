import type { Doc } from '../values/types.js';
import type { Scope } from './operator.js';

/** A compiled stage: takes documents, gives documents; it never changes those it takes. */
export type Stage = (input: Iterable<Doc>) => Iterable<Doc>;

/** The collections a pipeline reads besides its own, in the reader's snapshot. */
export interface Collections {
  /** The documents of a collection of the same database that match a filter, through an index if one serves it. */
  readonly lookup: (collection: string, filter: Doc) => Iterable<Doc>;
}

/** What a stage gets to compile itself with. */
export interface StageCall {
  readonly name: string;
  readonly scope: Scope;
  readonly collections: Collections;
  /** Compiles a pipeline inside of this stage. */
  readonly compilePipeline: (pipeline: unknown, scope: Scope, inside: InsideOf) => Stage;
}

/** The stages that hold pipelines, some of which refuse other stages inside. */
export type InsideOf = '$facet' | '$lookup';

export type StageCompiler = (specification: unknown, call: StageCall) => Stage;

/** A stage that makes one document of each. */
export function mapping(apply: (document: Doc) => Doc): Stage {
  return function* map(input) {
    for (const document of input) {
      yield apply(document);
    }
  };
}
