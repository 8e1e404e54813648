import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { nowMs } from './clock.js';

/** Millisecond and sequence number of the last id. */
let last = { ms: 0, seq: 0 };

/**
 * Returns 32 lower-case hex characters that sort by creation time, by the same clock as
 * `createdAt`. Without dashes and colons it can be part of a provider's reference and of a BullMQ
 * job id.
 */
export function newId(): string {
  const ms = nowMs();
  // Ids of one millisecond rise. A clock that is set back is followed, so that only ids made under
  // the wrong clock have its time.
  last = { ms, seq: ms === last.ms ? last.seq + 1 : firstOfMillisecond() };
  return v7({ msecs: ms, seq: last.seq }).replaceAll('-', '');
}

/**
 * Returns a value in the lower half of 32 bits, which leaves room for more ids than a millisecond
 * can see.
 */
function firstOfMillisecond(): number {
  return randomBytes(4).readUInt32BE() >>> 1;
}

/** Returns the lower bound of the ids of a millisecond. */
export function firstIdAt(ms: number): string {
  return Math.max(0, ms).toString(16).padStart(12, '0');
}

/**
 * A client's request id (`x-request-id`) without any letter may be a customer number, which is
 * masked elsewhere after a time. Only the log line of its call has it.
 */
const hasLetter = /[A-Za-z]/;

/**
 * Returns a request id that may be stored in purchases, jobs, log lines and traces; otherwise
 * undefined.
 */
export function getStorableRequestId(requestId: string | undefined): string | undefined {
  return requestId !== undefined && hasLetter.test(requestId) ? requestId : undefined;
}
