import { createHash } from 'node:crypto';
import { BSON, type Document, type Filter } from 'mongodb';
import { audit, type AuditEntry } from './audit.model.js';

/** How entries are read that are hashed: numbers keep their types. */
export const auditRead = { promoteValues: false, promoteLongs: false, batchSize: 1_000 } as const;

/**
 * SHA-256 over a stored entry as canonical Extended JSON, all of its fields in the order in which they are stored: what
 * was added to it is seen as well as what was changed. It must have been read with `auditRead`.
 */
export function auditEntryHash(entry: Document): string {
  return createHash('sha256')
    .update(`audit-1 ${BSON.EJSON.stringify(entry, { relaxed: false })}`)
    .digest('hex');
}

export interface AuditFilter {
  actor?: string | undefined;
  /** The action, or its beginning. */
  action?: string | undefined;
  subjectKind?: string | undefined;
  subjectId?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

export interface AuditPage {
  found: AuditEntry[];
  /** Where the next page begins: entries before it. Null at the end. */
  next: Date | null;
  /** How far back was looked, where the page is not full. */
  lookedBackTo: Date | null;
}

/** So many are looked at for one page, however few of them fit what no index knows. */
const lookedMax = 1_000;

/**
 * A page of the audit log, newest first, along the index of its subject or actor, or by time alone. Entries of one moment are
 * never on two pages.
 * @param before Entries earlier than this, as `next` of the page before says.
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
  const readMax = isExact(filter) ? limit + 1 : lookedMax;
  const looked = await audit.find(wanted).sort({ at: -1 }).limit(readMax).toArray();
  const fitting = looked.filter((each) => matchesFilter(each, filter));
  const last = fitting[limit - 1];
  if (last && fitting.length > limit) {
    // Whatever else was written at the moment of the last one comes along.
    const moment = await audit
      .find({ ...known, at: last.at } as Filter<AuditEntry>)
      .limit(lookedMax)
      .toArray();
    const earlier = fitting.filter((each) => each.at > last.at);
    return {
      found: [...earlier, ...moment.filter((each) => matchesFilter(each, filter))],
      next: last.at,
      lookedBackTo: null,
    };
  }
  const end = looked.length === readMax ? (looked.at(-1)?.at ?? null) : null;
  // Of the moment at its end there may be more, which the next page has.
  const whole = end === null ? fitting : fitting.filter((each) => each.at > end);
  return { found: whole, next: end && new Date(end.getTime() + 1), lookedBackTo: end };
}

/** What an index knows. */
function buildIndexedFilter({ actor, subjectKind, subjectId }: AuditFilter): Filter<AuditEntry> {
  if (subjectKind !== undefined && subjectId !== undefined) {
    return { 'subject.kind': subjectKind, 'subject.id': subjectId };
  }
  return actor === undefined ? {} : { actor };
}

/** Nothing is left that no index knows. */
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
