/**
 * Pauses that a provider requests (HTTP 429 or 503 with Retry-After). No process calls the provider
 * until the pause ends. Pauses are stored in Redis and use its clock. admission.ts rejects calls,
 * and circuit.ts stops the routing of orders.
 */
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { boundedPttlLua } from '../redis/bounded-times.js';
import { redis } from '../redis/connection.js';

/** Maximum pause in milliseconds. Longer pauses are shortened to this. */
export const pauseMaxMs = 3_600_000;

/**
 * Lua: `pauseLeft(key)` returns the rest of a pause. The value of the key is the requested length,
 * which bounds the rest if Redis's clock is set back. Requires `boundedPttlLua`.
 */
export const pauseLeftLua = `
local function pauseLeft(key)
  return boundedPttl(key, redis.call('GET', key) or 0)
end`;

/** Stores a pause. It never shortens a longer pause that is already stored. */
const pauseScript = `${boundedPttlLua}${pauseLeftLua}
if tonumber(ARGV[1]) > pauseLeft(KEYS[1]) then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[1]) end`;

/**
 * Stores a pause. Never throws: the response that requests the pause also carries the outcome of
 * the call, which must not be lost.
 */
export async function storePause(sellerId: string, pauseMs: number): Promise<void> {
  const ms = Math.min(Math.ceil(pauseMs), pauseMaxMs);
  logger.warn('provider requested a pause', { sellerId, pauseMs: ms });
  try {
    await redis().eval(pauseScript, 1, getPauseKey(sellerId), ms);
  } catch (error) {
    logger.warn('provider pause could not be stored', { sellerId, error });
  }
}

/**
 * Ends a pause at once, on the operator's decision.
 * @throws Redis errors.
 */
export async function endPause(sellerId: string): Promise<void> {
  await redis().del(getPauseKey(sellerId));
}

/** The hash tag keeps the keys of one provider on one node of a Redis Cluster. */
export function getPauseKey(sellerId: string): string {
  return `${env.QUEUE_PREFIX}:pause:{${sellerId}}`;
}

/**
 * Parses Retry-After (seconds or a date) to milliseconds from now. Null if it is absent, unreadable
 * or past.
 */
export function parseRetryAfterMs(header: string | string[] | undefined): number | null {
  if (typeof header !== 'string') {
    return null;
  }
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - nowMs();
  return ms > 0 ? ms : null;
}
