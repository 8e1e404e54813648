import { Long, type Collection, type Document, type OptionalUnlessRequiredId } from 'mongodb';
import mongoose, { type Collection as MongooseCollection } from 'mongoose';

/**
 * Rupiah, whole and safe, as the int64 that MongoDB must store: a JavaScript number above 2^31 would be stored as a
 * double. Its type is number because that is what everybody reads back.
 * @throws RangeError if the amount is no safe integer: a bug, never a client's mistake.
 */
export function int64(amount: number): number {
  if (!Number.isSafeInteger(amount)) {
    throw new RangeError(`Money must be a safe integer of rupiah, got ${amount}`);
  }
  return Long.fromNumber(amount) as unknown as number;
}

class MoneyType extends mongoose.SchemaType {
  static readonly schemaName = 'Money';

  constructor(path: string, options: object) {
    super(path, options, 'Money');
  }

  override cast(value: unknown): unknown {
    return value === null || value === undefined ? value : int64(Number(value));
  }

  castForQuery(_operator: unknown, value: unknown): unknown {
    return this.cast(value);
  }
}

// Mongoose looks types up by name.
Object.assign(mongoose.Schema.Types, { Money: MoneyType });

/** Mongoose type of every money field: stored as int64, read (lean) as a number; so its TypeScript type is number. */
export const Money = MoneyType as unknown as NumberConstructor;

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
