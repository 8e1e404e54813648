import { Long, type Collection, type Document, type OptionalUnlessRequiredId } from 'mongodb';
import mongoose, { type Collection as MongooseCollection } from 'mongoose';

/**
 * Returns an amount in rupiah as the int64 that MongoDB must store. A JavaScript number above 2^31
 * would be stored as a double. The return type is number because reads return numbers.
 * @throws RangeError if the amount is not a safe integer. This is a bug, never a client's mistake.
 */
export function toInt64(amount: number): number {
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
    return value === null || value === undefined ? value : toInt64(Number(value));
  }

  castForQuery(_operator: unknown, value: unknown): unknown {
    // A list is the value of `$in` or `$nin`.
    return Array.isArray(value) ? value.map((each) => this.cast(each)) : this.cast(value);
  }
}

// Mongoose looks types up by name.
Object.assign(mongoose.Schema.Types, { Money: MoneyType });

/**
 * Mongoose type of every money field. It is stored as int64 and read (lean) as a number, so its
 * TypeScript type is number.
 */
export const Money = MoneyType as unknown as NumberConstructor;

/**
 * Returns the driver's own collection of a model, typed. Use it in hot paths and for operators that
 * mongoose does not support.
 */
export function getCollection<T extends Document>(model: { collection: MongooseCollection }): Collection<T> {
  // Mongoose types its collection without the document.
  return model.collection as unknown as Collection<T>;
}

/** A document of any collection, with a string id. */
export type AnyDocument = Document & { _id: string };

/** Returns a collection without its document type, for code that reads documents by field names. */
export function asUntyped<T extends Document>(
  collection: Pick<Collection<T>, 'find' | 'findOne'>,
): Collection<AnyDocument> {
  // The driver's collection types are invariant, even if every document of `T` is assignable to
  // `AnyDocument`.
  return collection as unknown as Collection<AnyDocument>;
}

/**
 * Builds a model's `toStored` function. It returns the document as the driver must write it, with
 * money as int64. Null money fields stay null, and absent ones stay absent.
 */
export function buildToStored<T extends Document>(
  moneyFields: readonly (keyof T & string)[],
): (document: T) => OptionalUnlessRequiredId<T> {
  return (document) => {
    const stored: Record<string, unknown> = { ...document };
    for (const field of moneyFields) {
      const amount = stored[field];
      if (amount !== undefined) {
        stored[field] = amount === null ? null : toInt64(Number(amount));
      }
    }
    return stored as OptionalUnlessRequiredId<T>;
  };
}
