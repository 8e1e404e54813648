import type { Collection, Model } from 'mongoose';

declare const row: unique symbol;

/** Common supertype of read-only models of any row type. */
export interface AnyReadOnlyModel {
  readonly [row]: unknown;
}

/**
 * A model of rows that processes cache. Writers come only from `changing`
 * (src/redis/publish-changes.ts), so every write publishes its invalidation.
 */
export type ReadOnlyModel<T> = Pick<
  Model<T>,
  'find' | 'findOne' | 'findById' | 'countDocuments' | 'estimatedDocumentCount'
> & {
  /** Carries the type of the rows; it does not exist at run time. */
  readonly [row]: T;
};

export function readOnly<T>(model: { collection: Collection }): ReadOnlyModel<T> {
  return model as unknown as ReadOnlyModel<T>;
}

/** Returns the writable model. Only `changing` may call it. */
export function writerOf(model: AnyReadOnlyModel): Model<unknown> {
  return model as unknown as Model<unknown>;
}

export function getCollectionName(model: AnyReadOnlyModel): string {
  return writerOf(model).collection.collectionName;
}
