import { Long } from 'mongodb';
import type { LedgerCheck } from '../../../src/reconciliation/ledger/ledger-report.js';
import type { Edit } from './edit.js';
import type { Ids } from './history.js';

/**
 * The expected finding: its check, its subject (the id replaces `{success}`), and words in its
 * message.
 */
export type Expected = [LedgerCheck, string, string];

/**
 * A state that must never occur in the database, and the findings that the verification must report
 * for it.
 */
export interface Corruption {
  what: string;
  plant: (edit: Edit, ids: Ids) => Promise<unknown>;
  finds: Expected[];
  /**
   * True if the rows are consistent with each other and only the hashes of the daily close reveal
   * the change.
   */
  byClose?: true;
}

export const one = Long.fromNumber(1);
export const rupiah = (amount: number) => Long.fromNumber(amount);
export const journal = (subjectId: unknown, kind: string) => ({ subjectId, kind });
/** An unused id that sorts after all existing ids. */
export const unknownId = 'f'.repeat(32);
