import { Long } from 'mongodb';
import mongoose from 'mongoose';

/**
 * Rupiah, whole and safe, as the int64 that MongoDB must store. A JavaScript number above 2^31 would be stored
 * as a double.
 * @throws RangeError if the amount is no safe integer: a bug, never a client's mistake.
 */
export function int64(amount: number): Long {
  if (!Number.isSafeInteger(amount)) {
    throw new RangeError(`Money must be a safe integer of rupiah, got ${amount}`);
  }
  return Long.fromNumber(amount);
}

/** Commission in rupiah on a price, rounded half up (decisions.md 13). The rate is a fraction with at most 6 decimals. */
export function commissionOf(price: number, rate: number): number {
  const millionths = BigInt(Math.round(rate * 1_000_000));
  return Number((BigInt(price) * millionths + 500_000n) / 1_000_000n);
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
