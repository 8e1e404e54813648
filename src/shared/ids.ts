import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { nowMs } from './clock.js';

/** Millisecond and sequence number of the last id. */
let last = { ms: 0, seq: 0 };

/**
 * Returns 32 lower-case hex characters that sort by creation time, according to the same clock as
 * `createdAt`. The id has no dashes or colons, so it can be part of a provider's reference and of a
 * BullMQ job id.
 */
export function newId(): string {
  const ms = nowMs();
  // Ids of the same millisecond are ascending. If the clock is set back, new ids follow the
  // corrected time, so only ids made under the wrong clock have a wrong time.
  last = { ms, seq: ms === last.ms ? last.seq + 1 : generateFirstSeq() };
  return v7({ msecs: ms, seq: last.seq }).replaceAll('-', '');
}

/**
 * Returns a random start in the lower half of 32 bits. The upper half leaves room for more ids than
 * one process can create in a millisecond.
 */
function generateFirstSeq(): number {
  return randomBytes(4).readUInt32BE() >>> 1;
}

/** Returns the lower bound of the ids created at a time, in milliseconds since the epoch. */
export function getFirstIdAt(ms: number): string {
  return Math.max(0, ms).toString(16).padStart(12, '0');
}

/**
 * A client's request id (`x-request-id`) without any letter may be a customer number, and stored
 * customer numbers must be masked later. Such an id is written only to the log line of its call.
 */
const hasLetter = /[A-Za-z]/;

/**
 * Returns a request id that may be stored in purchases, jobs, log lines and traces. Undefined if it
 * may not.
 */
export function getStorableRequestId(requestId: string | undefined): string | undefined {
  return requestId !== undefined && hasLetter.test(requestId) ? requestId : undefined;
}
