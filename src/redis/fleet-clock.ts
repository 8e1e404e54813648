/**
 * One clock for the whole fleet: Redis's. Leases, schedules and ages are compared between processes on hosts whose own
 * clocks may be wrong; each process measures how far Redis is from its own steady clock, and goes by that.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { env } from '../../config/env.js';
import { nowMs, setClock } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { repeat } from '../shared/repeat.js';
import { withTimeout } from '../shared/concurrency.js';
import { connectRedis, redis } from './connection.js';
import { logRedisError } from './connection-errors.js';

const measureEveryMs = 10_000;
/** Until the first measure. */
const firstEveryMs = 500;
/** The first time: a process that starts is busy, and one trip alone may be off by most of a second. Far from Redis there are fewer. */
const firstTrips = 5;
const firstTripsMs = 1_000;
const connectWithinMs = 500;
const sureWithinMs = 2_000;
/** Our two clocks disagree by more than this: the host slept, or its clock was set. */
const jumpMs = 500;
/** How far our steady clock and Redis's may go apart: NTP slows or hastens a clock by no more. */
const driftMost = 0.000_5;
/** Worth a word to the operator. */
const hostErrorMs = 2_000;

const clockKey = `${env.QUEUE_PREFIX}:clock`;
/** The servers of a Cluster have a clock each: that of the one with this key is the fleet's. */
const timeScript = `return redis.call('time')`;

/** One moment by three clocks: the middle of the trip to Redis, which may have answered at any moment of it. */
interface Measured {
  redisMs: number;
  steadyMs: number;
  hostMs: number;
  /** Half the trip: the most that `redisMs` is off. */
  errorMs: number;
}

export interface FleetClock {
  /** Resolves with the first measure. Until then this process goes by what `goBy` was told, or by its host's clock. */
  measured: Promise<void>;
  /** Until the first measure, the time of another server: a host's own clock may be wrong by hours. @throws what `ask` throws. */
  goBy(ask: () => Promise<number>): Promise<void>;
  stop(): Promise<void>;
}

/** What this process goes by: the surest. */
let measured: Measured | null = null;
/** The newest: of a pause of the machine before it, it alone knows. */
let newest: Measured | null = null;
/** Where it was kept and is no more, what is still under way must not go by the host's. */
let keeping: 'never' | 'now' | 'ended' = 'never';
let isHostWrong = false;

/** Keeps this process on the fleet's clock until it is stopped. Without Redis the last measure goes on. */
export function keepFleetClock(): FleetClock {
  keeping = 'now';
  let onMeasured: () => void;
  const first = new Promise<void>((resolve) => (onMeasured = resolve));
  const measuring = repeat({
    name: 'fleet clock',
    everyMs: () => (measured ? measureEveryMs : firstEveryMs),
    async run() {
      await (measured ? measure() : measureFirst()).catch((error: unknown) => {
        logRedisError('the clock of redis is not measured', error);
      });
      if (measured) {
        onMeasured();
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
      const toldMs = await ask();
      const steadyMs = (beforeMs + performance.now()) / 2;
      // A measure may have come meanwhile.
      if (findClockProblem() !== null) {
        setClock(() => Math.round(toldMs + performance.now() - steadyMs));
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

/** In words, what keeps a process that is to go by the fleet's clock from doing so; null: nothing. */
export function findClockProblem(): string | null {
  return keeping === 'now' && !measured ? "Redis's clock was not measured yet." : null;
}

/**
 * The time, for what must not happen after a moment: the latest that it can be by a measure that began after the call. Whatever
 * this process went by may be old: a machine that was paused has two clocks that stood still.
 * @throws Error where this process keeps the fleet's clock and cannot measure it now, or has kept it and ends.
 */
export async function sureNowMs(): Promise<number> {
  if (keeping === 'now') {
    await withTimeout(sureWithinMs, measureOfTurn(), () => new Error('Redis did not tell the time'));
  }
  if (keeping === 'ended') {
    throw new Error('This process ends, and keeps no clock any more');
  }
  return latestNowMs();
}

/** The latest that it can be by the newest measure, unless the machine has stood still since: of that no process knows by itself. */
export function latestNowMs(): number {
  if (keeping === 'ended') {
    return Infinity;
  }
  return newest ? Math.ceil(redisNow(newest) + errorNow(newest)) : nowMs();
}

/** Whether `sureNowMs` would tell: asked before something is begun that has to end in its time. */
export async function isTimeKnown(): Promise<boolean> {
  return sureNowMs().then(
    () => true,
    () => false,
  );
}

let ofTurn: Promise<void> | null = null;

/** One for everybody who asks in this turn of the event loop. */
function measureOfTurn(): Promise<void> {
  ofTurn ??= nextTurn().then(async () => {
    ofTurn = null;
    if (!(await measure())) {
      throw new Error('Redis is away, and nobody knows the time');
    }
  });
  return ofTurn;
}

async function measureFirst(): Promise<void> {
  const startedMs = performance.now();
  for (let trip = 0; trip < firstTrips && performance.now() - startedMs < firstTripsMs; trip++) {
    if (!(await measure())) {
      return;
    }
  }
}

/** @returns false while Redis is away: the connection itself tells of that, once. */
async function measure(): Promise<boolean> {
  if (redis().status !== 'ready') {
    await connectRedis(connectWithinMs).catch(() => undefined);
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
    setClock(() => Math.round(redisNow(found)));
  }
  warnOfHost(found);
  return true;
}

/** Surer by now, or another time altogether: we slept, or Redis's clock was set, or it is another Redis. */
function isBetter(found: Measured, held: Measured): boolean {
  const errors = [errorNow(found), errorNow(held)] as const;
  const apartMs = Math.abs(redisNow(found) - redisNow(held));
  return errors[0] <= errors[1] || apartMs > errors[0] + errors[1] || hasJumped(held);
}

function redisNow({ redisMs, steadyMs }: Measured): number {
  return redisMs + performance.now() - steadyMs;
}

function errorNow({ errorMs, steadyMs }: Measured): number {
  return errorMs + driftMost * (performance.now() - steadyMs);
}

function hasJumped({ hostMs, steadyMs }: Measured): boolean {
  return Math.abs(Date.now() - hostMs - (performance.now() - steadyMs)) > jumpMs;
}

function warnOfHost({ redisMs, hostMs, errorMs }: Measured): void {
  const wrongMs = Math.round(hostMs - redisMs);
  const isWrong = Math.abs(wrongMs) > hostErrorMs + errorMs;
  if (isWrong && !isHostWrong) {
    logger.warn("this host's clock is not that of Redis; the fleet goes by Redis", { errorMs: wrongMs });
  }
  isHostWrong = isWrong;
}
