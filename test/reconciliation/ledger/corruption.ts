import { Long } from 'mongodb';
import type { LedgerCheck } from '../../../src/reconciliation/ledger/ledger-report.js';
import type { Edit } from './edit.js';
import type { Ids } from './history.js';

/** The check, whom it names (`{success}` stands for that id), and words that it uses. */
export type Expected = [LedgerCheck, string, string];

/** Something that must never be in the database, and what the verification has to say about it. */
export interface Corruption {
  what: string;
  plant: (edit: Edit, ids: Ids) => Promise<unknown>;
  finds: Expected[];
  /** Rows that are right among themselves: only the hashes of the daily close tell that they were others. */
  byClose?: true;
}

export const one = Long.fromNumber(1);
export const rupiah = (amount: number) => Long.fromNumber(amount);
export const journal = (subjectId: unknown, kind: string) => ({ subjectId, kind });
/** An id that nothing has, and that comes after all others. */
export const strange = 'f'.repeat(32);
