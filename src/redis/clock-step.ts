/**
 * Detects that Redis's clock was set, or that a failover led to a server with a different clock.
 * The step stays on record in Redis until its traces are gone: stored times that are too late by
 * the step. Redis's own times are bounded where they are read (bounded-times.ts), and those in
 * MongoDB by src/signals/repair-stored-times.ts.
 */
import { uptime } from 'node:os';
import { env } from '../../config/env.js';
import { logger } from '../shared/logger.js';
import { buildSiblingKey, redis } from './connection.js';

/** Each server of a Cluster has its own clock. The server with this key provides the shared one. */
export const clockKey = `${env.QUEUE_PREFIX}:clock`;
const latestKey = buildSiblingKey(clockKey, 'clock-latest');
const stepKey = buildSiblingKey(clockKey, 'clock-step');

/** Steps up to this many milliseconds are ignored. NTP adjusts smaller errors gradually. */
const toleranceMs = 5_000;
/** Longest interval in milliseconds between two looks of a live process, with a margin. */
const lookEveryMaxMs = 15_000;
/**
 * Minimum time in milliseconds for which a step stays on record. By then every process follows the
 * new clock, and every scraper has seen the step.
 */
export const stepKeptMs = 60_000;
/** Lifetime of the latest seen time, in milliseconds. */
const latestKeptMs = 7 * 86_400_000;

export interface ClockStep {
  /** Milliseconds by which the clock was set forward. Negative if it was set back. */
  byMs: number;
  /** When the step was found, on the new clock. */
  atMs: number;
}

/**
 * Compares the time with the latest one that any process has seen, and with the time that this
 * process expects. Only one process finds a step.
 *
 * A step forward needs both: a process that was paused expects too little, and while no process
 * ran, none has seen a later time.
 *
 * KEYS: latest time, step. ARGV: expected time or 0, tolerance, longest interval between two looks,
 * minimum time on record, lifetime of the latest time.
 */
const lookScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local latest, expected = tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[1])
local tolerance = tonumber(ARGV[2])
local by = 0
if now < (latest > 0 and latest or expected) - tolerance then
  by = now - math.max(latest, expected)
elseif latest > 0 and expected > 0 and now > expected + tolerance and now > latest + tolerance + ARGV[3] then
  by = now - expected
end
redis.call('SET', KEYS[1], string.format('%.0f', now), 'PX', ARGV[5])
if by ~= 0 then
  local step = string.format('{"byMs":%.0f,"atMs":%.0f}', by, now)
  -- An earlier step back may still have traces.
  local kept = math.max(0, -by, redis.call('PTTL', KEYS[2])) + ARGV[4]
  redis.call('SET', KEYS[2], step, 'PX', string.format('%.0f', kept))
end
return {now, by}`;

/** The last look of this process. The uptime of the host also counts while the host sleeps. */
let last: { redisMs: number; uptimeMs: number } | null = null;

/**
 * Records a step of Redis's clock, if there was one since the last look of any process.
 * @throws Redis errors.
 */
export async function lookForClockStep(): Promise<void> {
  const expectedMs = last ? Math.round(last.redisMs + uptime() * 1_000 - last.uptimeMs) : 0;
  const [redisMs, byMs] = (await redis().eval(
    lookScript,
    2,
    latestKey,
    stepKey,
    expectedMs,
    toleranceMs,
    lookEveryMaxMs,
    stepKeptMs,
    latestKeptMs,
  )) as [number, number];
  last = { redisMs, uptimeMs: uptime() * 1_000 };
  if (byMs !== 0) {
    logger.error('the clock of redis was set, or redis is now a server with another clock', { byMs });
  }
}

/**
 * Returns the last step of Redis's clock while it has traces. Null if there is none.
 * @throws Redis errors.
 */
export async function readClockStep(): Promise<ClockStep | null> {
  const text = await redis().get(stepKey);
  return text === null ? null : (JSON.parse(text) as ClockStep);
}

/**
 * Ends the record of a step whose traces are gone.
 * @throws Redis errors.
 */
export async function endClockStep(): Promise<void> {
  await redis().del(stepKey);
}
