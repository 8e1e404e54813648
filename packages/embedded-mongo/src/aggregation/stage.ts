import type { Doc } from '../values/types.js';
import type { Scope } from './operator.js';

/** A compiled stage. It never changes its input documents. */
export type Stage = (input: Iterable<Doc>) => Iterable<Doc>;

/** The other collections that a pipeline reads, in the reader's snapshot. */
export interface Collections {
  /**
   * Finds the matching documents of a collection in the same database, through an index if
   * possible.
   */
  readonly lookup: (collection: string, filter: Doc) => Iterable<Doc>;
}

/** The context in which a stage is compiled. */
export interface StageCall {
  readonly name: string;
  readonly scope: Scope;
  readonly collections: Collections;
  /** Compiles a pipeline inside this stage. */
  readonly compilePipeline: (pipeline: unknown, scope: Scope, inside: InsideOf) => Stage;
}

/** The stages that contain pipelines. Each refuses some stages inside. */
export type InsideOf = '$facet' | '$lookup';

export type StageCompiler = (specification: unknown, call: StageCall) => Stage;

/** A stage that maps each document to one document. */
export function createMapStage(apply: (document: Doc) => Doc): Stage {
  return function* map(input) {
    for (const document of input) {
      yield apply(document);
    }
  };
}
