import type { Doc } from '../values/types.js';
import type { Scope } from './operator.js';

/** A compiled stage. It never changes its input documents. */
export type Stage = (input: Iterable<Doc>) => Iterable<Doc>;

/** Gives stages access to other collections, in the snapshot of the reader. */
export interface Collections {
  /**
   * Finds the matching documents of another collection in the same database. It uses an index if
   * possible.
   */
  readonly lookup: (collection: string, filter: Doc) => Iterable<Doc>;
}

/** The name of the stage, and functions that the stage needs to compile its specification. */
export interface StageCall {
  readonly name: string;
  readonly scope: Scope;
  readonly collections: Collections;
  /** Compiles a pipeline inside this stage. */
  readonly compilePipeline: (pipeline: unknown, scope: Scope, inside: InsideOf) => Stage;
}

/** The stages that contain pipelines. Some stages are not allowed in such a pipeline. */
export type InsideOf = '$facet' | '$lookup';

export type StageCompiler = (specification: unknown, call: StageCall) => Stage;

/** Creates a stage that maps each document to one document. */
export function createMapStage(apply: (document: Doc) => Doc): Stage {
  return function* map(input) {
    for (const document of input) {
      yield apply(document);
    }
  };
}
