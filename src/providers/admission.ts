/**
 * How many calls a provider gets: at most so many a second from all workers together, evenly spaced, and at most
 * so many at once from each process. A call waits for its turn for a short time only; who would wait longer is
 * told so before anything is sent.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { env } from '../../config/env.js';
import { logger } from '../shared/logger.js';
import { redis } from '../redis/connection.js';
import type { ProviderConnection } from './adapter.js';

/** For both waits together: well within the margin of an order's lease. */
export const admissionWaitMaxMs = 1_000;
const concurrencyDefault = 100;

/** Reserves the next free moment, if it comes soon enough: returns the wait in milliseconds, or -1. */
const paceScript = `
local now, interval, waitMax = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local at = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
if at - now > waitMax then return -1 end
redis.call('SET', KEYS[1], tostring(at + interval), 'PX', math.ceil(at + interval - now) + 1000)
return math.ceil(at - now)`;

/** @returns what `call` returned, or `null` if the provider is too busy and nothing was sent. */
export async function admitted<T>(connection: ProviderConnection, call: () => Promise<T>): Promise<T | null> {
  const { sellerId, callsPerSecond, concurrency } = connection;
  const startedAt = Date.now();
  const release = await takeSlot(sellerId, concurrency ?? concurrencyDefault);
  if (!release) {
    return null;
  }
  try {
    if (callsPerSecond) {
      const delayMs = await pace(sellerId, {
        callsPerSecond,
        waitMaxMs: admissionWaitMaxMs - (Date.now() - startedAt),
      });
      if (delayMs < 0) {
        return null;
      }
      await wait(delayMs);
    }
    return await call();
  } finally {
    release();
  }
}

async function pace(
  sellerId: string,
  { callsPerSecond, waitMaxMs }: { callsPerSecond: number; waitMaxMs: number },
): Promise<number> {
  try {
    const key = `${env.QUEUE_PREFIX}:pace:{${sellerId}}`;
    return Number(await redis().eval(paceScript, 1, key, Date.now(), 1_000 / callsPerSecond, waitMaxMs));
  } catch (error) {
    // A limit that cannot be kept together is not exceeded: the caller comes back when Redis does.
    logger.warn('provider rate limit not known', { sellerId, error });
    return -1;
  }
}

interface Slots {
  busy: number;
  waiting: Set<() => void>;
}
const slotsOf = new Map<string, Slots>();

/** @returns the function that gives the slot back, or null if none became free in time. */
async function takeSlot(sellerId: string, max: number): Promise<(() => void) | null> {
  const slots = slotsOf.get(sellerId) ?? { busy: 0, waiting: new Set() };
  slotsOf.set(sellerId, slots);
  if (slots.busy < max) {
    slots.busy += 1;
  } else if (!(await turnComes(slots))) {
    return null;
  }
  return () => {
    const [next] = slots.waiting;
    if (next) {
      // The slot changes hands and stays busy, so that nobody can slip in between.
      next();
    } else {
      slots.busy -= 1;
    }
  };
}

function turnComes(slots: Slots): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      slots.waiting.delete(turn);
      resolve(false);
    }, admissionWaitMaxMs);
    const turn = () => {
      clearTimeout(timer);
      slots.waiting.delete(turn);
      resolve(true);
    };
    slots.waiting.add(turn);
  });
}
