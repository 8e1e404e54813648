import { logger } from './logger.js';

const pauseMs = 60_000;

/** By what was said: when, and how often it was not said again since. */
const lastLogged = new Map<string, { atMs: number; more: number }>();

/**
 * An error line of what fails as often as it is tried: one a minute for each code and each thing that did not work; the
 * next one says how many were left out.
 * @param what did not work, from a small set of words: each has its own minute.
 */
export function logOncePerMinute(what: string, code: string, details: Record<string, unknown> = {}): void {
  const key = `${what} ${code}`;
  const last = lastLogged.get(key);
  const atMs = performance.now();
  if (last && atMs - last.atMs < pauseMs) {
    last.more += 1;
    return;
  }
  lastLogged.set(key, { atMs, more: 0 });
  logger.error(what, { code, ...details, ...(last && last.more > 0 && { moreOfThem: last.more }) });
}
