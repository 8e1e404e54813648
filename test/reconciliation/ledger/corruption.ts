import { Long } from 'mongodb';
import type { LedgerCheck } from '../../../src/reconciliation/ledger/ledger-report.js';
import type { Edit } from './edit.js';
import type { Ids } from './history.js';

/** The check, its subject (`{success}` is replaced by that id), and words of its message. */
export type Expected = [LedgerCheck, string, string];

/**
 * A state that must never be in the database, and the findings that the verification must report.
 */
export interface Corruption {
  what: string;
  plant: (edit: Edit, ids: Ids) => Promise<unknown>;
  finds: Expected[];
  /** The rows are consistent. Only the hashes of the daily close reveal the change. */
  byClose?: true;
}

export const one = Long.fromNumber(1);
export const rupiah = (amount: number) => Long.fromNumber(amount);
export const journal = (subjectId: unknown, kind: string) => ({ subjectId, kind });
/** An unused id that sorts after all others. */
export const strange = 'f'.repeat(32);
