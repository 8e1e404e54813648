/**
 * A pause that a provider has asked for (HTTP 429 or 503 with Retry-After): until it is over no process of the fleet
 * calls it. Kept in Redis, by Redis's own clock; admission.ts holds calls back, circuit.ts keeps orders away.
 */
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { redis } from '../redis/connection.js';

/** What asks for more is looked at again after this. */
export const pauseMaxMs = 3_600_000;

/** A pause that is longer than the one asked for stays. */
const pauseScript = `
if tonumber(ARGV[1]) > redis.call('PTTL', KEYS[1]) then redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) end`;

/** Never throws: the answer that asked for the pause says what became of the call, and must be heard. */
export async function storePause(sellerId: string, pauseMs: number): Promise<void> {
  const ms = Math.min(Math.ceil(pauseMs), pauseMaxMs);
  logger.warn('the provider asks for a pause', { sellerId, pauseMs: ms });
  try {
    await redis().eval(pauseScript, 1, getPauseKey(sellerId), ms);
  } catch (error) {
    logger.warn('the pause of a provider is not kept', { sellerId, error });
  }
}

/** An operator knows better: it is called again at once. @throws Redis's own errors. */
export async function endPause(sellerId: string): Promise<void> {
  await redis().del(getPauseKey(sellerId));
}

/** The braces keep the keys of one provider on one node of a Redis cluster. */
export function getPauseKey(sellerId: string): string {
  return `${env.QUEUE_PREFIX}:pause:{${sellerId}}`;
}

/** Retry-After as milliseconds from now: seconds or a date. Null: none, or nothing that can be read. */
export function parseRetryAfterMs(header: string | string[] | undefined): number | null {
  if (typeof header !== 'string') {
    return null;
  }
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - nowMs();
  return ms > 0 ? ms : null;
}
