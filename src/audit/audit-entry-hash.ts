import { createHash } from 'node:crypto';
import { BSON, type Document } from 'mongodb';

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
