/**
 * The clock that all processes share is the clock of Redis, so that leases, schedules and ages do
 * not depend on the clocks of the hosts. Each process measures the offset between the Redis clock
 * and its own monotonic clock, and applies it (decision 049).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { nowMs, setClock } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { repeat } from '../shared/repeat.js';
import { withTimeout } from '../shared/concurrency.js';
import { clockKey, lookForClockStep } from './clock-step.js';
import { connectRedis, redis } from './connection.js';
import { logRedisError } from './connection-errors.js';

const measureEveryMs = 10_000;
/** Interval in milliseconds until the first measurement succeeds. */
const firstEveryMs = 500;
/**
 * Round trips of the first measurement. A starting process is busy, so a single round trip may be
 * wrong by most of a second. With high latency, fewer round trips are made.
 */
const firstTrips = 5;
const firstTripsMs = 1_000;
const connectTimeoutMs = 500;
const measureTimeoutMs = 2_000;
/**
 * If monotonic and host clock disagree by more than this many milliseconds, the host slept or its
 * clock was set.
 */
const jumpMs = 500;
/**
 * Maximum drift between the monotonic clock and the Redis clock. NTP adjusts a clock by no more.
 */
const driftMax = 0.000_5;
/** Error of the host clock in milliseconds above which the operator is warned. */
const hostErrorMs = 2_000;

const timeScript = `return redis.call('time')`;

/**
 * One moment on three clocks, at the middle of the round trip to Redis. Redis may have read its
 * clock at any moment of the round trip.
 */
interface ClockMeasurement {
  redisMs: number;
  steadyMs: number;
  hostMs: number;
  /** Half the round trip, which is the maximum error of `redisMs`. */
  errorMs: number;
}

export interface FleetClock {
  /**
   * Resolves with the first measurement. Until then, this process uses the time from `goBy`, or the
   * host's clock.
   */
  measured: Promise<void>;
  /**
   * Uses another server's time until the first measurement, because a host's clock may be wrong by
   * hours.
   * @throws The errors of `ask`.
   */
  goBy(ask: () => Promise<number>): Promise<void>;
  stop(): Promise<void>;
}

/** The most precise measurement, which provides the time of this process. */
let measured: ClockMeasurement | null = null;
/**
 * The newest measurement. If the machine was paused, only a measurement after the pause reflects
 * it.
 */
let newest: ClockMeasurement | null = null;
/** State of the clock. After `ended`, remaining work must not fall back to the host's clock. */
let keeping: 'never' | 'now' | 'ended' = 'never';
let isHostWrong = false;

/**
 * Keeps this process on the shared clock until `stop`. While Redis is unavailable, the last
 * measurement stays in use.
 */
export function keepFleetClock(): FleetClock {
  keeping = 'now';
  let onMeasured: () => void;
  const first = new Promise<void>((resolve) => (onMeasured = resolve));
  const measuring = repeat({
    name: 'fleet clock',
    everyMs: () => (measured ? measureEveryMs : firstEveryMs),
    async run() {
      await (measured ? measure() : measureFirst()).catch((error: unknown) => {
        logRedisError('the clock of redis could not be measured', error);
      });
      if (measured) {
        onMeasured();
        // Redis may accept no writes. The next look finds the step.
        await lookForClockStep().catch(() => undefined);
      }
    },
  });
  return {
    measured: first,
    async goBy(ask) {
      if (findClockProblem() === null) {
        return;
      }
      const beforeMs = performance.now();
      const receivedMs = await ask();
      const steadyMs = (beforeMs + performance.now()) / 2;
      // A measurement may have finished meanwhile.
      if (findClockProblem() !== null) {
        setClock(() => Math.round(receivedMs + performance.now() - steadyMs));
      }
    },
    async stop() {
      await measuring.stop();
      setClock(null);
      measured = null;
      newest = null;
      keeping = 'ended';
    },
  };
}

/**
 * Returns why this process does not use the shared clock although it should. Null if it uses it.
 */
export function findClockProblem(): string | null {
  return keeping === 'now' && !measured ? "Redis's clock has not been measured yet." : null;
}

/**
 * Returns the latest possible time, from a measurement that begins after the call. Use it before an
 * action that must not happen after a deadline. An earlier measurement may be stale, because the
 * clocks of a paused machine stand still.
 * @throws Error if the shared clock is in use and cannot be measured now, or was stopped.
 */
export async function measureLatestNowMs(): Promise<number> {
  if (keeping === 'now') {
    await withTimeout(
      measureTimeoutMs,
      measureOncePerTurn(),
      () => new Error('Redis did not return the time'),
    );
  }
  if (keeping === 'ended') {
    throw new Error('This process is stopping and no longer has the fleet clock');
  }
  return latestNowMs();
}

/**
 * Returns the latest possible time according to the newest measurement. It cannot detect a pause of
 * the machine after that measurement.
 */
export function latestNowMs(): number {
  if (keeping === 'ended') {
    return Infinity;
  }
  return newest ? Math.ceil(getRedisNowMs(newest) + getErrorMs(newest)) : nowMs();
}

/** True if `measureLatestNowMs` would succeed. Call it before work that must end by a deadline. */
export async function isTimeKnown(): Promise<boolean> {
  return measureLatestNowMs().then(
    () => true,
    () => false,
  );
}

let turnMeasurement: Promise<void> | null = null;

/** Shares one measurement among all calls in this iteration of the event loop. */
function measureOncePerTurn(): Promise<void> {
  turnMeasurement ??= nextTurn().then(async () => {
    turnMeasurement = null;
    if (!(await measure())) {
      throw new Error('Redis is unavailable, so the fleet time is unknown');
    }
  });
  return turnMeasurement;
}

async function measureFirst(): Promise<void> {
  const startedMs = performance.now();
  for (let trip = 0; trip < firstTrips && performance.now() - startedMs < firstTripsMs; trip++) {
    if (!(await measure())) {
      return;
    }
  }
}

/** @returns False while Redis is unavailable, which the connection reports itself. */
async function measure(): Promise<boolean> {
  if (redis().status !== 'ready') {
    await connectRedis(connectTimeoutMs).catch(() => undefined);
  }
  if (redis().status !== 'ready') {
    return false;
  }
  const beforeMs = performance.now();
  const [seconds, micros] = (await redis().eval(timeScript, 1, clockKey)) as [string, string];
  const errorMs = (performance.now() - beforeMs) / 2;
  const found = {
    redisMs: Number(seconds) * 1_000 + Number(micros) / 1_000,
    steadyMs: beforeMs + errorMs,
    hostMs: Date.now() - errorMs,
    errorMs,
  };
  newest = found;
  if (!measured || isBetter(found, measured)) {
    measured = found;
    setClock(() => Math.round(getRedisNowMs(found)));
  }
  warnOfHostClock(found);
  return true;
}

/**
 * True if `found` is now the more precise measurement, or if the clocks disagree. They disagree if
 * the host slept, the Redis clock was set, or Redis is now a different server.
 */
function isBetter(found: ClockMeasurement, current: ClockMeasurement): boolean {
  const errors = [getErrorMs(found), getErrorMs(current)] as const;
  const apartMs = Math.abs(getRedisNowMs(found) - getRedisNowMs(current));
  return errors[0] <= errors[1] || apartMs > errors[0] + errors[1] || hasJumped(current);
}

function getRedisNowMs({ redisMs, steadyMs }: ClockMeasurement): number {
  return redisMs + performance.now() - steadyMs;
}

function getErrorMs({ errorMs, steadyMs }: ClockMeasurement): number {
  return errorMs + driftMax * (performance.now() - steadyMs);
}

function hasJumped({ hostMs, steadyMs }: ClockMeasurement): boolean {
  return Math.abs(Date.now() - hostMs - (performance.now() - steadyMs)) > jumpMs;
}

function warnOfHostClock({ redisMs, hostMs, errorMs }: ClockMeasurement): void {
  const wrongMs = Math.round(hostMs - redisMs);
  const isWrong = Math.abs(wrongMs) > hostErrorMs + errorMs;
  if (isWrong && !isHostWrong) {
    logger.warn("this host's clock differs from that of Redis, which the fleet uses", { errorMs: wrongMs });
  }
  isHostWrong = isWrong;
}
