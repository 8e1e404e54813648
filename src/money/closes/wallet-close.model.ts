import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, toInt64, Money } from '../../database/typed-collection.js';

/**
 * Sums of journal lines in rupiah, keyed by ledger account. All sums together are 0. Platform
 * accounts have their own names. `wallet`, `held` and `payable` are sums over all accounts.
 */
export type LedgerSums = Record<string, number>;

/**
 * A wallet's part of a closed day: its journals from `firstSeq` to `lastSeq`. Written once, for
 * each day on which the wallet changed. A range of `seq` is immune to late commits and wrong clocks
 * (decision 014).
 */
export interface WalletClose {
  /** `<day>:<wallet>` */
  _id: string;
  /** YYYY-MM-DD, business time. */
  day: string;
  walletId: string;
  firstSeq: number;
  lastSeq: number;
  /** Balance in rupiah after the journal `lastSeq`. */
  balance: number;
  held: number;
  sums: LedgerSums;
  /** SHA-256 of these journals in the order of `seq`, in lower-case hex. */
  journalsHash: string;
  /**
   * SHA-256 of the immutable parts of the purchases, deposits and settlements that these journals
   * belong to.
   */
  subjectsHash: string;
  /** `hash` of the wallet's previous row. Null for the first row of the wallet. */
  previous: string | null;
  /** SHA-256 of all fields above. */
  hash: string;
  /** True for the wallet's last row. This is the only mutable field. The hash does not cover it. */
  newest: boolean;
}

const schema = new Schema<WalletClose>(
  {
    _id: { type: String, required: true },
    day: { type: String, required: true },
    walletId: { type: String, required: true },
    firstSeq: { type: Money, required: true },
    lastSeq: { type: Money, required: true },
    balance: { type: Money, required: true },
    held: { type: Money, required: true },
    sums: { type: Schema.Types.Mixed, required: true },
    journalsHash: { type: String, required: true },
    subjectsHash: { type: String, required: true },
    previous: { type: String, default: null },
    hash: { type: String, required: true },
    newest: { type: Boolean, required: true },
  },
  { collection: 'walletCloses', versionKey: false },
);
schema.index({ walletId: 1, day: 1 }, { unique: true, name: 'wallet_day_unique' });
// The unique index prevents two rows from having the same predecessor.
schema.index(
  { walletId: 1 },
  { unique: true, partialFilterExpression: { newest: true }, name: 'wallet_newest_unique' },
);

export const WalletCloseModel = mongoose.model('WalletClose', schema);
export const walletCloses = getCollection<WalletClose>(WalletCloseModel);
const toStoredRow = buildToStored<WalletClose>(['firstSeq', 'lastSeq', 'balance', 'held']);

/** Returns a row as the driver must store it, with money as int64. */
export function toStored(row: WalletClose) {
  return { ...toStoredRow(row), sums: toStoredSums(row.sums) };
}

export function toStoredSums(sums: LedgerSums): LedgerSums {
  return Object.fromEntries(Object.entries(sums).map(([name, amount]) => [name, toInt64(amount)]));
}
