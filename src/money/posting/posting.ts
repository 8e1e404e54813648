/** Postings: movements of money as data. post.ts writes them. */
import type { Document, Filter } from 'mongodb';
import type { AnyStored } from '../../database/typed-collection.js';
import type { JournalKind, JournalLine } from '../journals/journal.model.js';
import type { TotalsChange } from '../totals/counters.js';

/** Steps that move no money. The names appear in logs. */
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

/** A wallet after a posting, in rupiah. */
export interface WalletAfter {
  balance: number;
  held: number;
  seq: number;
}

/** Changes that are written in one database transaction, all or none. */
export interface Posting {
  /**
   * The owner, whose wallet changes if any does. Postings of one account are written in order of
   * arrival.
   */
  accountId: string;
  kind: JournalKind | StepKind;
  /**
   * Id of the subject. A journal's {subjectId, kind} is unique for ever: a repeat returns the first
   * result.
   */
  subjectId: string;
  /**
   * Change of the account's wallet in rupiah. Absent if only other ledger accounts change, or none.
   */
  wallet?: WalletChange;
  /** Lines of the journal; they sum to 0. Absent for a step that moves no money. */
  lines?: JournalLine[];
  inserts?: Insert[];
  changes?: Change[];
  /**
   * The posting is `stale` if such a document exists when it is written. Allowed only with a change
   * of the wallet, which prevents a concurrent posting of the account from inserting the document.
   */
  barredBy?: Bar;
  totals?: TotalsChange[];
  /**
   * For a step without a journal: a filter that matches only documents of this call. It shows after
   * a lost answer whether the step was written. Absent: the first insert, else the first change.
   */
  proof?: { collection: string; filter: Filter<AnyStored> };
}

/**
 * A document that must not exist, found by an index. Of two postings with the same `rivals`, one is
 * written before the other is checked.
 */
export interface Bar {
  collection: string;
  filter: Filter<AnyStored>;
  rivals: string;
}

export interface WalletChange {
  balance: number;
  held?: number;
  /** Only a reversal of a sale may make a seller's balance negative (decision 007). */
  mayOverdraw?: boolean;
}

/**
 * A new document as stored, with money as int64. `documentAfter` builds it from the wallet after
 * the posting.
 */
export type Insert = {
  collection: string;
  /** The client's unique key in the collection. A repeat returns the document stored under it. */
  key?: Record<string, string>;
} & ({ document: Document } | { documentAfter: (after: WalletAfter) => Document });

/**
 * A conditional update of one or several documents. The posting is `stale` if one is not as
 * expected.
 */
export type Change = {
  collection: string;
  id: string | string[];
  /** The owners of the documents, if not the posting's account. */
  accountId?: string | string[];
  expect: Filter<AnyStored>;
} & ({ set: Document } | { setAfter: (after: WalletAfter) => Document });

export type PostingResult =
  /** Written, and held by a majority. `wallet` is set if the posting changes one. */
  | { outcome: 'posted'; wallet: WalletAfter | null }
  /** The balance is too low. Nothing was written. */
  | { outcome: 'insufficient'; balance: number }
  /** The balance would exceed the largest safe integer. Nothing was written. */
  | { outcome: 'too-large' }
  /**
   * A duplicate. `stands` is the document under its key, or null without a key. Nothing was
   * written.
   */
  | { outcome: 'duplicate'; stands: Document | null }
  /** An expectation failed. Nothing was written. */
  | { outcome: 'stale' };

/** Returns the document of an insert, given the wallet after the posting. */
export function getInsertDocument(insert: Insert, after: WalletAfter | null): Document {
  return 'document' in insert ? insert.document : insert.documentAfter(requireWallet(after));
}

export function getChangeSet(change: Change, after: WalletAfter | null): Document {
  return 'set' in change ? change.set : change.setAfter(requireWallet(after));
}

function requireWallet(after: WalletAfter | null): WalletAfter {
  if (!after) {
    throw new Error('A document built from the wallet requires a posting that changes the wallet');
  }
  return after;
}
