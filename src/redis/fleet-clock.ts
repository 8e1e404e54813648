/**
 * One clock for the whole fleet: Redis's. Leases, schedules and ages are compared between processes on hosts whose own
 * clocks may be wrong; each process measures how far Redis is from its own steady clock, and goes by that.
 */
import { env } from '../../config/env.js';
import { nowMs, setClock } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { repeat } from '../shared/repeat.js';
import { connectRedis, redis } from './connection.js';

const measureEveryMs = 10_000;
const connectWithinMs = 500;
/** An answer that took longer says too little. */
const tripMaxMs = 250;
/** Our two clocks disagree by more than this: the host slept, or its clock was set. */
const jumpMs = 500;
/** Worth a word to the operator. */
const hostErrorMs = 2_000;

const clockKey = `${env.QUEUE_PREFIX}:clock`;
/** The servers of a Cluster have a clock each: that of the one with this key is the fleet's. */
const timeScript = `return redis.call('time')`;

interface Measured {
  redisMs: number;
  steadyMs: number;
  hostMs: number;
}

let measured: Measured | null = null;
let isHostWrong = false;

/** Keeps this process on the fleet's clock until it is stopped. Without Redis the last measure goes on. */
export function keepFleetClock(): { stop: () => Promise<void> } {
  const measuring = repeat({ name: 'fleet clock', everyMs: measureEveryMs, run: measure });
  return {
    async stop() {
      await measuring.stop();
      setClock(null);
      measured = null;
    },
  };
}

/**
 * The time, for what must not happen after a moment: measured anew if this process may have stood still since the last
 * measure.
 */
export async function sureNowMs(): Promise<number> {
  if (measured && Math.abs(hostSince(measured) - steadySince(measured)) > jumpMs) {
    await measure();
  }
  return nowMs();
}

/** Not before the connection stands, nor while Redis is away: the connection itself tells of that, once. */
async function measure(): Promise<void> {
  if (redis().status !== 'ready') {
    await connectRedis(connectWithinMs).catch(() => undefined);
  }
  if (redis().status !== 'ready') {
    return;
  }
  const beforeMs = performance.now();
  const [seconds, micros] = (await redis().eval(timeScript, 1, clockKey)) as [string, string];
  const tripMs = performance.now() - beforeMs;
  if (tripMs > tripMaxMs) {
    return;
  }
  const redisMs = Number(seconds) * 1_000 + Number(micros) / 1_000;
  const found = { redisMs, steadyMs: beforeMs + tripMs / 2, hostMs: Date.now() };
  measured = found;
  setClock(() => Math.round(found.redisMs + steadySince(found)));
  warnOfHost(found);
}

function steadySince({ steadyMs }: Measured): number {
  return performance.now() - steadyMs;
}

function hostSince({ hostMs }: Measured): number {
  return Date.now() - hostMs;
}

function warnOfHost({ redisMs, hostMs }: Measured): void {
  const errorMs = Math.round(hostMs - redisMs);
  const isWrong = Math.abs(errorMs) > hostErrorMs;
  if (isWrong && !isHostWrong) {
    logger.warn("this host's clock is not that of Redis; the fleet goes by Redis", { errorMs });
  }
  isHostWrong = isWrong;
}
