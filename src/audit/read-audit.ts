import { createHash } from 'node:crypto';
import { BSON, type Document, type Filter } from 'mongodb';
import { auditEntries, type AuditEntry } from './audit.model.js';

/** Read options for hashing entries. Numbers keep their BSON types. */
export const auditReadOptions = { promoteValues: false, promoteLongs: false, batchSize: 1_000 } as const;

/**
 * Computes the SHA-256 of a stored entry as canonical Extended JSON, with all fields in stored
 * order. An added field therefore changes the hash.
 * @param entry An entry that was read with `auditReadOptions`.
 */
export function hashAuditEntry(entry: Document): string {
  return createHash('sha256')
    .update(`audit-1 ${BSON.EJSON.stringify(entry, { relaxed: false })}`)
    .digest('hex');
}

export interface AuditFilter {
  actor?: string | undefined;
  /** The action, or a prefix of it. */
  action?: string | undefined;
  subjectKind?: string | undefined;
  subjectId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

export interface AuditPage {
  found: AuditEntry[];
  /** Value of `before` for the next page. Null at the end. */
  next: Date | null;
  /** How far back the search went, if the page is not full. */
  searchedBackTo: Date | null;
}

/**
 * Maximum number of entries read per page, even if few of them match conditions without an index.
 */
const entriesReadMax = 1_000;

/**
 * Returns a page of the audit log, newest first. Entries with the same time are never split over
 * two pages.
 * @param before Returns only entries before this time. Pass `next` of the previous page.
 */
export async function findAuditPage(
  filter: AuditFilter,
  { before, limit }: { before?: Date | undefined; limit: number },
): Promise<AuditPage> {
  const { since, until } = filter;
  const known = buildIndexedFilter(filter);
  const at = {
    ...(since && { $gte: since }),
    ...(until && { $lte: until }),
    ...(before && { $lt: before }),
  };
  const wanted = { ...known, ...(Object.keys(at).length > 0 && { at }) } as Filter<AuditEntry>;
  const readMax = isExact(filter) ? limit + 1 : entriesReadMax;
  const looked = await auditEntries.find(wanted).sort({ at: -1 }).limit(readMax).toArray();
  const fitting = looked.filter((each) => matchesFilter(each, filter));
  const last = fitting[limit - 1];
  if (last && fitting.length > limit) {
    // Include all other entries with the same time as the last one.
    const moment = await auditEntries
      .find({ ...known, at: last.at } as Filter<AuditEntry>)
      .limit(entriesReadMax)
      .toArray();
    const earlier = fitting.filter((each) => each.at > last.at);
    return {
      found: [...earlier, ...moment.filter((each) => matchesFilter(each, filter))],
      next: last.at,
      searchedBackTo: null,
    };
  }
  const end = looked.length === readMax ? (looked.at(-1)?.at ?? null) : null;
  // More entries may have the same time as the last one read. The next page returns all of them.
  const whole = end === null ? fitting : fitting.filter((each) => each.at > end);
  return { found: whole, next: end && new Date(end.getTime() + 1), searchedBackTo: end };
}

/** Returns the conditions that an index covers. */
function buildIndexedFilter({ actor, subjectKind, subjectId }: AuditFilter): Filter<AuditEntry> {
  if (subjectKind !== undefined && subjectId !== undefined) {
    return { 'subject.kind': subjectKind, 'subject.id': subjectId };
  }
  return actor === undefined ? {} : { actor };
}

/** True if an index covers all conditions. */
function isExact({ actor, action, subjectKind, subjectId }: AuditFilter): boolean {
  const isOfSubject = subjectKind !== undefined && subjectId !== undefined;
  const isOfActor = subjectKind === undefined && subjectId === undefined;
  return action === undefined && ((isOfSubject && actor === undefined) || isOfActor);
}

function matchesFilter(entry: AuditEntry, { actor, action, subjectKind, subjectId }: AuditFilter): boolean {
  return (
    (actor === undefined || entry.actor === actor) &&
    (action === undefined || entry.action.startsWith(action)) &&
    (subjectKind === undefined || entry.subject.kind === subjectKind) &&
    (subjectId === undefined || entry.subject.id === subjectId)
  );
}
