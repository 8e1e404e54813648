import type { Collection, Model } from 'mongoose';

declare const row: unique symbol;

/** What is common to the read-only models of all rows. */
export interface AnyReadOnlyModel {
  readonly [row]: unknown;
}

/**
 * A model of rows that processes keep in memory. It only reads: `changing` (src/redis/publish-changes.ts) hands out what
 * writes, so that no change can be forgotten to be told.
 */
export type ReadOnlyModel<T> = Pick<
  Model<T>,
  'find' | 'findOne' | 'findById' | 'countDocuments' | 'estimatedDocumentCount'
> & {
  /** Never there: it carries the type of the rows. */
  readonly [row]: T;
};

export function readOnly<T>(model: { collection: Collection }): ReadOnlyModel<T> {
  return model as unknown as ReadOnlyModel<T>;
}

/** For `changing` alone. */
export function writerOf(model: AnyReadOnlyModel): Model<unknown> {
  return model as unknown as Model<unknown>;
}

export function getCollectionName(model: AnyReadOnlyModel): string {
  return writerOf(model).collection.collectionName;
}
