import type { Collection, Document, OptionalUnlessRequiredId } from 'mongodb';
import type { Collection as MongooseCollection } from 'mongoose';
import { int64 } from './money-type.js';

/** The driver's own collection of a model, typed: for hot paths and operators that mongoose only stands in the way of. */
export function collectionOf<T extends Document>(model: { collection: MongooseCollection }): Collection<T> {
  // Mongoose types its collection without the document.
  return model.collection as unknown as Collection<T>;
}

/**
 * Makes a model's `toStored`: the document as the driver has to write it, with money as int64. A money field that is
 * null stays null.
 */
export function storing<T extends Document>(
  moneyFields: readonly (keyof T & string)[],
): (document: T) => OptionalUnlessRequiredId<T> {
  return (document) => {
    const stored: Record<string, unknown> = { ...document };
    for (const field of moneyFields) {
      const amount = stored[field];
      stored[field] = amount === null ? null : int64(Number(amount));
    }
    return stored as OptionalUnlessRequiredId<T>;
  };
}
