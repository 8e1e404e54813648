import type { Collection, Document, OptionalUnlessRequiredId } from 'mongodb';
import type { Collection as MongooseCollection } from 'mongoose';
import { int64 } from './money-type.js';

/** The driver's own collection of a model, typed: for hot paths and operators that mongoose only stands in the way of. */
export function getCollection<T extends Document>(model: { collection: MongooseCollection }): Collection<T> {
  // Mongoose types its collection without the document.
  return model.collection as unknown as Collection<T>;
}

/** What is stored in whichever collection: every id of ours is a text, which the driver's `Document` does not know. */
export type AnyStored = Document & { _id: string };

/** A collection for whoever goes by the names of fields alone, and reads what others have typed. */
export function asUntyped<T extends Document>(
  collection: Pick<Collection<T>, 'find' | 'findOne'>,
): Collection<AnyStored> {
  // The driver takes no collection of one type for one of another, also where all documents of the first are of the second.
  return collection as unknown as Collection<AnyStored>;
}

/**
 * Makes a model's `toStored`: the document as the driver has to write it, with money as int64. A money field that is
 * null stays null, and one that is absent stays absent.
 */
export function buildToStored<T extends Document>(
  moneyFields: readonly (keyof T & string)[],
): (document: T) => OptionalUnlessRequiredId<T> {
  return (document) => {
    const stored: Record<string, unknown> = { ...document };
    for (const field of moneyFields) {
      const amount = stored[field];
      if (amount !== undefined) {
        stored[field] = amount === null ? null : int64(Number(amount));
      }
    }
    return stored as OptionalUnlessRequiredId<T>;
  };
}
