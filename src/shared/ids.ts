import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { nowMs } from './clock.js';

/** The last millisecond that an id was made in, and the number of the id. */
let last = { ms: 0, seq: 0 };

/**
 * 32 lower-case hex characters that sort by time of creation, by the clock that `createdAt` goes by. No dashes and no colons, so that the id can be
 * part of a provider's reference and of a BullMQ job id.
 */
export function newId(): string {
  const ms = nowMs();
  // Those of a millisecond rise. A clock that was set back is followed: only what was made under the wrong one has its time.
  last = { ms, seq: ms === last.ms ? last.seq + 1 : firstOfMillisecond() };
  return v7({ msecs: ms, seq: last.seq }).replaceAll('-', '');
}

/** Of 32 bits, with room above for more ids than a millisecond can see. */
function firstOfMillisecond(): number {
  return randomBytes(4).readUInt32BE() >>> 1;
}

/** Where the ids of a millisecond begin. */
export function firstIdAt(ms: number): string {
  return Math.max(0, ms).toString(16).padStart(12, '0');
}

/**
 * A client may say what its request is called (`x-request-id`): one without any letter could be somebody's number, which is masked
 * elsewhere after a time. It stays in the one log line of its call.
 */
const hasLetter = /[A-Za-z]/;

/** A request's id where it may go further than its call: onto the purchase, into jobs, log lines and traces. */
export function getStorableRequestId(requestId: string | undefined): string | undefined {
  return requestId !== undefined && hasLetter.test(requestId) ? requestId : undefined;
}
