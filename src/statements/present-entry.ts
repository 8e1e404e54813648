import type { StatementEntry } from './read-statement.js';

/** An entry in the words of the wire, also the columns of its CSV. */
export function presentEntry({ at, kind, refId, subjectId, amount, balance }: StatementEntry) {
  return { at: at.toISOString(), kind, ref_id: refId, subject_id: subjectId, amount, balance };
}
