/** What Redis, its connections and BullMQ complain of: heard, and not once a retry. */
import { logOncePerMinute } from '../shared/say-once-a-minute.js';

/**
 * One line a minute for each code and each thing that did not work.
 * @param what did not work, from a small set of words: each has its own minute.
 */
export function logRedisError(what: string, error: unknown, details: Record<string, unknown> = {}): void {
  logOncePerMinute(what, getErrorCode(error), { ...details, error });
}

/**
 * `OOM`, `READONLY`, `ECONNREFUSED`: the code of a socket, or the first word of what Redis answered, which is its code
 * by protocol; of what caused an error, where that is known. Of anything else the name of the class.
 */
export function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) {
    return 'unknown';
  }
  if (error.cause instanceof Error) {
    return getErrorCode(error.cause);
  }
  if ('code' in error && typeof error.code === 'string') {
    return error.code;
  }
  const [word] = /^[A-Z]{2,}(?=\s)/.exec(error.message) ?? [];
  return word ?? error.name;
}
