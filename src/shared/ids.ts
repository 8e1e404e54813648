import { v7 } from 'uuid';

/**
 * 32 lower-case hex characters that sort by time of creation. No dashes and no colons, so that the id can be
 * part of a provider's reference and of a BullMQ job id.
 */
export function newId(): string {
  return v7().replaceAll('-', '');
}

/** Where the ids of a millisecond begin. */
export function firstIdAt(ms: number): string {
  return Math.max(0, ms).toString(16).padStart(12, '0');
}
