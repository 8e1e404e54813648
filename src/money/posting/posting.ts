/** What moves money, as data. How it is written is one place: post.ts. */
import type { Document, Filter } from 'mongodb';
import type { AnyStored } from '../../database/typed-collection.js';
import type { JournalKind, JournalLine } from '../journals/journal.model.js';
import type { TotalsChange } from '../totals/counters.js';

/** Steps of a purchase and the like that move no money, by the name that a log line gives them. */
export type StepKind =
  | 'claim'
  | 'pending-notice'
  | 'review'
  | 'review-ask'
  | 'deposit-request'
  | 'deposit-rejection'
  | 'settlement-claim'
  | 'settlement-approval'
  | 'adjustment-request';

/** A wallet as it is after a posting, in rupiah. */
export interface WalletAfter {
  balance: number;
  held: number;
  seq: number;
}

/** What must stand or fall together. All of it is written in one database transaction, or none. */
export interface Posting {
  /** Whose it is: its wallet, if it changes one. Postings of one account are written in the order of their arrival. */
  accountId: string;
  kind: JournalKind | StepKind;
  /** What it is about. A journal's {subjectId, kind} is unique for ever: asking again answers what the first one did. */
  subjectId: string;
  /** The change of the account's wallet, in rupiah; absent: the posting moves money of platform accounts, or none. */
  wallet?: WalletChange;
  /** Of the journal; they sum to 0. Absent for a step that moves no money. */
  lines?: JournalLine[];
  inserts?: Insert[];
  changes?: Change[];
  /**
   * With such a document there, at the moment of the posting, it is `stale`. Only for one that changes a wallet: that is what
   * keeps another posting of the account from writing the document meanwhile.
   */
  barredBy?: Bar;
  /** What it adds to the daily totals. */
  totals?: TotalsChange[];
  /**
   * For a step without a journal: what only this very call can have written. After a lost answer it tells whether the
   * step holds. Absent: its first insert, else its first change.
   */
  proof?: { collection: string; filter: Filter<AnyStored> };
}

/** What must not be there, by an index; of two postings that name the same `rivals` one is written before the other is looked at. */
export interface Bar {
  collection: string;
  filter: Filter<AnyStored>;
  rivals: string;
}

export interface WalletChange {
  balance: number;
  held?: number;
  /** Only a reversal of a sale may take a seller below zero (decision 007). */
  mayOverdraw?: boolean;
}

/** A new document as it is stored (money as int64); `documentAfter` where it tells what the posting did to the wallet. */
export type Insert = {
  collection: string;
  /** The client's own name for it, unique in the collection: whoever asks again gets what stands under it. */
  key?: Record<string, string>;
} & ({ document: Document } | { documentAfter: (after: WalletAfter) => Document });

/** A conditional update of one document, or of several in the same way: `stale` if one is not as expected. */
export type Change = {
  collection: string;
  id: string | string[];
  /** Whose documents they are, where not the posting's account. */
  accountId?: string | string[];
  expect: Filter<AnyStored>;
} & ({ set: Document } | { setAfter: (after: WalletAfter) => Document });

export type PostingResult =
  /** Written, and a majority holds it. `wallet` is there if the posting changes one. */
  | { outcome: 'posted'; wallet: WalletAfter | null }
  /** The balance does not cover it. Nothing was written. */
  | { outcome: 'insufficient'; balance: number }
  /** The balance would pass the largest safe integer. Nothing was written. */
  | { outcome: 'too-large' }
  /** It was done before: `stands` is the document under its key, null if it has none. Nothing was written. */
  | { outcome: 'duplicate'; stands: Document | null }
  /** Something is not as expected (any more). Nothing was written. */
  | { outcome: 'stale' };

/** The document of an insert, after what the posting did to the wallet. */
export function getInsertDocument(insert: Insert, after: WalletAfter | null): Document {
  return 'document' in insert ? insert.document : insert.documentAfter(requireWallet(after));
}

export function getChangeSet(change: Change, after: WalletAfter | null): Document {
  return 'set' in change ? change.set : change.setAfter(requireWallet(after));
}

function requireWallet(after: WalletAfter | null): WalletAfter {
  if (!after) {
    throw new Error('A document that tells of the wallet belongs to a posting that changes it');
  }
  return after;
}
