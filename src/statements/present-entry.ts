import { formatIsoTime } from '../shared/iso-time.js';
import type { StatementEntry } from './read-statement.js';

/** An entry in the words of the wire, also the columns of its CSV. */
export function presentEntry({ at, kind, refId, subjectId, amount, balance }: StatementEntry, zone?: string) {
  return { at: formatIsoTime(at, zone), kind, ref_id: refId, subject_id: subjectId, amount, balance };
}
