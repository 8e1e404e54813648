import mongoose, { Schema } from 'mongoose';
import { getCollection, buildToStored, int64, Money } from '../../database/typed-collection.js';

/**
 * What journals moved, by ledger account: those of the platform by their names, `wallet`, `held` and `payable` those of
 * all accounts together. Rupiah; they come to 0.
 */
export type LedgerSums = Record<string, number>;

/**
 * A wallet's part of a closed day: its journals `firstSeq` to `lastSeq`. Written once, for days on which it moved; a
 * range of `seq` cannot be changed by a late commit or a wrong clock (decision 014).
 */
export interface WalletClose {
  /** `<day>:<wallet>` */
  _id: string;
  /** YYYY-MM-DD, business time. */
  day: string;
  walletId: string;
  firstSeq: number;
  lastSeq: number;
  /** After `lastSeq`. Rupiah. */
  balance: number;
  held: number;
  sums: LedgerSums;
  /** SHA-256 over these journals in the order of `seq`. Hashes are lower-case hex. */
  journalsHash: string;
  /** SHA-256 over what can no longer change of the purchases, deposits and settlements that they are for. */
  subjectsHash: string;
  /** `hash` of the wallet's row before this one; null for its first. */
  previous: string | null;
  /** Over all of the above. */
  hash: string;
  /** The wallet's last row. The one field that changes, and not part of the hash. */
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
// Two rows can never follow the same one.
schema.index(
  { walletId: 1 },
  { unique: true, partialFilterExpression: { newest: true }, name: 'wallet_newest_unique' },
);

export const WalletCloseModel = mongoose.model('WalletClose', schema);
export const walletCloses = getCollection<WalletClose>(WalletCloseModel);
const storing64 = buildToStored<WalletClose>(['firstSeq', 'lastSeq', 'balance', 'held']);

/** A row as the driver has to write it. */
export function toStored(row: WalletClose) {
  return { ...storing64(row), sums: storedSums(row.sums) };
}

export function storedSums(sums: LedgerSums): LedgerSums {
  return Object.fromEntries(Object.entries(sums).map(([name, amount]) => [name, int64(amount)]));
}
