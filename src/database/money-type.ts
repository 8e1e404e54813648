import { Long } from 'mongodb';
import mongoose from 'mongoose';

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
