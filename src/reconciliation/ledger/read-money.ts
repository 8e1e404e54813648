import { Long, type FindOptions } from 'mongodb';

/** How the verification reads: int64 stays recognisable as such, so that a double is seen. */
export const rawRead: FindOptions = { promoteLongs: false, batchSize: 1_000 };

/** Turns the named money fields into numbers and notes each that is not stored as a safe int64. */
export interface MoneyReader {
  /** Rupiah; NaN where the value cannot be one. */
  rupiah(value: unknown, where: string): number;
  rupiahOrNull(value: unknown, where: string): number | null;
  readonly notInt64: string[];
}

export function moneyReader(): MoneyReader {
  const notInt64: string[] = [];

  function rupiah(value: unknown, where: string): number {
    const number = Long.isLong(value) ? value.toNumber() : typeof value === 'number' ? value : Number.NaN;
    if (!Long.isLong(value) || !Number.isSafeInteger(number)) {
      notInt64.push(where);
    }
    return number;
  }
  return {
    rupiah,
    rupiahOrNull: (value, where) => (value === null || value === undefined ? null : rupiah(value, where)),
    notInt64,
  };
}
