/** A posting describes a movement of money as data. post.ts writes it. */
import type { Document, Filter } from 'mongodb';
import type { AnyDocument } from '../../database/typed-collection.js';
import type { JournalKind, JournalLine } from '../journals/journal.model.js';
import type { TotalsChange } from '../totals/counters.js';

/** Steps that move no money. Their names appear in logs. */
export type StepKind =
  | 'claim'
  | 'pending-notice'
  | 'review'
  | 'review-ask'
  | 'deposit-request'
  | 'deposit-rejection'
  | 'settlement-claim'
  | 'settlement-approval'
  | 'settlement-reference'
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
   * The owner of the wallet that changes, if one does. Postings of one account are written in order
   * of arrival.
   */
  accountId: string;
  kind: JournalKind | StepKind;
  /**
   * Id of the subject. The pair {subjectId, kind} of a journal is unique forever: a repeat returns
   * the first result.
   */
  subjectId: string;
  /** Change of the account's wallet in rupiah. Absent if no wallet changes. */
  wallet?: WalletChange;
  /** Lines of the journal, which sum to 0. Absent for a step that moves no money. */
  lines?: JournalLine[];
  inserts?: Insert[];
  changes?: Change[];
  /**
   * If such a document exists when the posting is written, the posting is `stale`. Allowed only
   * together with a change of the wallet, which prevents a concurrent posting of the account from
   * inserting the document.
   */
  barredBy?: Bar;
  totals?: TotalsChange[];
  /**
   * For a step without a journal, a filter that matches only documents of this call. If the
   * database response is lost, it shows whether the step was written. If absent, the first insert
   * is used, or the first change if there is no insert.
   */
  proof?: { collection: string; filter: Filter<AnyDocument> };
}

/**
 * A document that must not exist. The query uses an index. Of two postings with the same `rivals`,
 * one is written before the other is checked.
 */
export interface Bar {
  collection: string;
  filter: Filter<AnyDocument>;
  rivals: string;
}

export interface WalletChange {
  balance: number;
  held?: number;
  /** Only a reversal of a sale may make a seller's balance negative (decision 007). */
  mayOverdraw?: boolean;
  /**
   * True to refuse the posting as `insufficient` while the balance is below zero, even if the
   * posting does not lower it.
   */
  needsNoDebt?: boolean;
}

/**
 * A new document as stored, with money as int64. `documentAfter` builds it from the wallet after
 * the posting.
 */
export type Insert = {
  collection: string;
  /**
   * The client's unique key in the collection. A repeat returns the document stored under this key.
   */
  key?: Record<string, string>;
} & ({ document: Document } | { documentAfter: (after: WalletAfter) => Document });

/**
 * A conditional update of one or several documents. The posting is `stale` if one of them is not in
 * the expected state.
 */
export type Change = {
  collection: string;
  id: string | string[];
  /** The owners of the documents, if they differ from the posting's account. */
  accountId?: string | string[];
  expect: Filter<AnyDocument>;
} & ({ set: Document } | { setAfter: (after: WalletAfter) => Document });

export type PostingResult =
  /**
   * The posting is written, and a majority holds it. `wallet` is set if the posting changes a
   * wallet.
   */
  | { outcome: 'posted'; wallet: WalletAfter | null }
  /** The balance is too low. Nothing was written. */
  | { outcome: 'insufficient'; balance: number }
  /** The balance would exceed the largest safe integer. Nothing was written. */
  | { outcome: 'too-large' }
  /**
   * The posting is a duplicate, and nothing was written. `stands` is the document stored under the
   * key of the posting, or null if it has no key.
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
