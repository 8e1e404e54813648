import type { Collection, Model } from 'mongoose';

declare const row: unique symbol;

/** Common supertype of read-only models of any row type. */
export interface AnyReadOnlyModel {
  readonly [row]: unknown;
}

/**
 * A model of rows that processes cache. Only `writeAndInvalidate` (src/redis/publish-changes.ts)
 * provides a writable model, so every write publishes its invalidation.
 */
export type ReadOnlyModel<T> = Pick<
  Model<T>,
  'find' | 'findOne' | 'findById' | 'countDocuments' | 'estimatedDocumentCount'
> & {
  /** Carries the type of the rows; it does not exist at run time. */
  readonly [row]: T;
};

export function asReadOnly<T>(model: { collection: Collection }): ReadOnlyModel<T> {
  return model as unknown as ReadOnlyModel<T>;
}

/** Returns the writable model. Only `writeAndInvalidate` may call this function. */
export function getWritableModel(model: AnyReadOnlyModel): Model<unknown> {
  return model as unknown as Model<unknown>;
}

export function getCollectionName(model: AnyReadOnlyModel): string {
  return getWritableModel(model).collection.collectionName;
}
