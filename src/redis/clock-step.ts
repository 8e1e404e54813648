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
/** Longest time in milliseconds between two looks of live processes, with a margin. */
const gapMaxMs = 20_000;
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

/** Lua: `record(key, by, now, keptMs)` puts a step on record. */
const recordLua = `
local function record(key, by, now, keptMs)
  local step = string.format('{"byMs":%.0f,"atMs":%.0f}', by, now)
  -- An earlier step back may still have traces.
  local kept = math.max(0, -by, redis.call('PTTL', key)) + keptMs
  redis.call('SET', key, step, 'PX', string.format('%.0f', kept))
end`;

/**
 * Compares the time with the latest one that any process has seen, or else with the time that this
 * process expects. If it is earlier, the clock was set back. Only one process finds the step.
 *
 * Returns the time, the latest time before it or 0, and the step or 0.
 *
 * KEYS: latest time, step. ARGV: expected time or 0, tolerance, minimum time on record, lifetime of
 * the latest time, longest difference between two looks.
 */
const lookScript = `${recordLua}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local latest, expected, by = tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[1]), 0
if now < (latest > 0 and latest or expected) - ARGV[2] then
  by = now - math.max(latest, expected)
  record(KEYS[2], by, now, ARGV[3])
end
-- A process that has just started cannot tell a step forward from a time without processes. It
-- leaves the latest time to the other processes until its second look.
if expected > 0 or latest == 0 or now < latest + ARGV[5] then
  redis.call('SET', KEYS[1], string.format('%.0f', now), 'PX', ARGV[4])
end
return {now, latest, by}`;

/** KEYS: step. ARGV: step in milliseconds, time, minimum time on record. */
const recordScript = `${recordLua}
record(KEYS[1], ARGV[1], ARGV[2], ARGV[3])`;

/** The last look of this process. The uptime of the host also counts while the host sleeps. */
let last: { redisMs: number; uptimeMs: number } | null = null;

/**
 * Records a step of Redis's clock, if there was one since the last look of any process.
 * @throws Redis errors.
 */
export async function lookForClockStep(): Promise<void> {
  const expectedMs = getExpectedMs();
  const [redisMs, latestMs, backMs] = (await redis().eval(
    lookScript,
    2,
    latestKey,
    stepKey,
    expectedMs,
    toleranceMs,
    stepKeptMs,
    latestKeptMs,
    gapMaxMs,
  )) as [number, number, number];
  const byMs = backMs === 0 && expectedMs > 0 ? findStepForward(redisMs, latestMs) : backMs;
  last = { redisMs, uptimeMs: uptime() * 1_000 };
  if (byMs > 0) {
    await redis().eval(recordScript, 1, stepKey, byMs, redisMs, stepKeptMs);
  }
  if (byMs !== 0) {
    logger.error('the clock of redis was set, or redis is now a server with another clock', { byMs });
  }
}

/** Returns the time that Redis should have now. 0 before the first look. */
function getExpectedMs(): number {
  return last ? Math.round(last.redisMs + uptime() * 1_000 - last.uptimeMs) : 0;
}

/**
 * Returns by how much the clock was set forward. 0 if it was not.
 *
 * It was only if the time is later than this process expects after the reply, however long that
 * took, and no process has seen a time shortly before it. This process may have been paused.
 */
function findStepForward(redisMs: number, latestMs: number): number {
  const byMs = redisMs - getExpectedMs();
  const isLater = byMs > toleranceMs && redisMs - latestMs > gapMaxMs;
  return latestMs > 0 && isLater ? byMs : 0;
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
