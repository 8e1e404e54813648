/**
 * How many calls a provider gets from all processes together: at most so many a second, evenly spaced, at most so many
 * at once, and none while it has asked for a pause. Counted in Redis, by Redis's own clock: a host whose clock is wrong
 * shuts nobody out. Whoever would wait too long is told so before anything is sent.
 *
 * A call is counted from the moment it is let through. So the circuit sees orders that hang before their time is over.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { env } from '../../config/env.js';
import { logger } from '../shared/logger.js';
import { redis } from '../redis/connection.js';
import type { ProviderConnection } from './adapter.js';
import { startHeartbeat, createCallToken } from './heartbeats.js';
import { circuitRules, getFlightsKey, getProbeKey } from './circuit.js';
import { getPauseKey } from './pause.js';
import { countNotAdmitted, observeAdmission } from './provider-metrics.js';

/** How long a question waits for its turn. */
export const admissionWaitMaxMs = 1_000;
/** The order whose turn it is in the provider's queue has patience: nobody is behind it whom it keeps. */
const orderWaitMaxMs = 5_000;
const slotFreeEveryMs = 50;
/** The longest time-out of any adapter. */
const questionTimeoutMs = 40_000;
/** A call that nobody has taken back after its time-out and this was of a process that died. */
const lifeMarginMs = 5_000;

/**
 * Lets a call through, or says why not: {'go', ms until it may begin}, {'slots', 0}, {'pace', ms}, {'pause', ms}.
 * KEYS: pause, pace, orders under way, questions under way, probe.
 * ARGV: token, ms between calls or 0, slots or 0, longest wait, life of a call, 1 for an order.
 */
const admitScript = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local interval, slots, waitMax, life = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local pause = redis.call('PTTL', KEYS[1])
if pause > 0 then return {'pause', pause} end
for i = 3, 4 do redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now - life) end
if slots > 0 and redis.call('ZCARD', KEYS[3]) + redis.call('ZCARD', KEYS[4]) >= slots then return {'slots', 0} end
local at = now
if interval > 0 then
  at = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), now)
  if at - now > waitMax then return {'pace', math.ceil(at - now)} end
  redis.call('SET', KEYS[2], tostring(at + interval), 'PX', math.ceil(at + interval - now) + 1000)
end
local flights = ARGV[6] == '1' and KEYS[3] or KEYS[4]
redis.call('ZADD', flights, at, ARGV[1])
redis.call('PEXPIRE', flights, life * 2)
if ARGV[6] == '1' then redis.call('PEXPIRE', KEYS[5], life) end
return {'go', math.ceil(at - now)}`;

/**
 * A call that was let through; `release` when its answer is there, or it was not made after all. The first word holds.
 */
export interface Admission {
  release(how?: { sent: boolean }): Promise<void>;
}

/** When to come again, in milliseconds from now. */
export interface NotAdmitted {
  retryAfterMs: number;
}

/**
 * The turn of an order. It is taken before anything is written about the order, so that one that only waits leaves no
 * trace.
 * @param options.countsForCircuit False for an order that plays a story in the sandbox.
 */
export function admitOrder(
  connection: ProviderConnection,
  options: { timeoutMs: number; countsForCircuit: boolean },
): Promise<Admission | NotAdmitted> {
  return admit(connection, {
    waitMaxMs: orderWaitMaxMs,
    timeoutMs: options.timeoutMs,
    isOrder: options.countsForCircuit,
  });
}

/**
 * A question: a status check, a bill, our balance. A provider that does not answer keeps half of what a process does at
 * once, and no more, so that there is always room for the questions to others.
 * @returns what `call` returned, or `null` if the provider is too busy and nothing was sent.
 */
export async function callWhenAdmitted<T>(
  connection: ProviderConnection,
  call: () => Promise<T>,
  { timeoutMs = questionTimeoutMs }: { timeoutMs?: number } = {},
): Promise<T | null> {
  const { sellerId } = connection;
  const asked = questionsBySeller.get(sellerId) ?? 0;
  if (asked >= questionsMax) {
    return null;
  }
  questionsBySeller.set(sellerId, asked + 1);
  try {
    const turn = await admit(connection, { waitMaxMs: admissionWaitMaxMs, timeoutMs, isOrder: false });
    if (!('release' in turn)) {
      return null;
    }
    try {
      return await call();
    } finally {
      await turn.release();
    }
  } finally {
    questionsBySeller.set(sellerId, (questionsBySeller.get(sellerId) ?? 1) - 1);
  }
}

const questionsMax = Math.ceil(env.FULFILMENT_CONCURRENCY / 2);
const questionsBySeller = new Map<string, number>();

async function admit(
  connection: ProviderConnection,
  { waitMaxMs, ...how }: { waitMaxMs: number; timeoutMs: number; isOrder: boolean },
): Promise<Admission | NotAdmitted> {
  const token = createCallToken();
  const untilMs = performance.now() + waitMaxMs;
  for (;;) {
    const leftMs = Math.max(0, untilMs - performance.now());
    const [said, ms] = await requestAdmission(connection, { token, waitMaxMs: leftMs, ...how });
    switch (said) {
      case 'go':
        await wait(ms);
        observeAdmission(
          { provider: connection.sellerId },
          Math.max(0, waitMaxMs - (untilMs - performance.now())) / 1_000,
        );
        return { release: buildRelease(connection.sellerId, token, how.isOrder) };
      case 'slots':
        if (leftMs < slotFreeEveryMs) {
          countNotAdmitted({ provider: connection.sellerId, reason: said });
          return { retryAfterMs: slotFreeEveryMs };
        }
        await wait(slotFreeEveryMs);
        break;
      case 'pace':
      case 'pause':
        countNotAdmitted({ provider: connection.sellerId, reason: said });
        return { retryAfterMs: ms };
    }
  }
}

type AdmitReply = [said: 'go' | 'slots' | 'pace' | 'pause', ms: number];

async function requestAdmission(
  { sellerId, callsPerSecond, concurrency }: ProviderConnection,
  call: { token: string; waitMaxMs: number; timeoutMs: number; isOrder: boolean },
): Promise<AdmitReply> {
  try {
    return (await redis().eval(
      admitScript,
      5,
      getPauseKey(sellerId),
      getPaceKey(sellerId),
      ...getFlightKeys(sellerId),
      getProbeKey(sellerId, 'send'),
      call.token,
      callsPerSecond ? 1_000 / callsPerSecond : 0,
      concurrency ?? 0,
      call.waitMaxMs,
      call.timeoutMs + orderWaitMaxMs + lifeMarginMs,
      Number(call.isOrder),
    )) as AdmitReply;
  } catch (error) {
    // A limit that cannot be kept together is not exceeded: the caller comes back when Redis does.
    logger.warn('provider limits not known', { sellerId, error });
    return ['pause', admissionWaitMaxMs];
  }
}

function buildRelease(sellerId: string, token: string, isOrder: boolean): Admission['release'] {
  const ended = isOrder ? startHeartbeat(sellerId, token) : () => undefined;
  let isReleased = false;
  return async ({ sent } = { sent: true }) => {
    if (isReleased) {
      return;
    }
    isReleased = true;
    ended();
    await Promise.all([release(sellerId, token), isOrder && !sent ? endProbe(sellerId) : undefined]);
  };
}

/** KEYS: probe. ARGV: the pause between probes. */
const endProbeScript = `
if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end`;

/** Should this order have been the probe: nobody will answer it, and the next one need not wait for that. */
async function endProbe(sellerId: string): Promise<void> {
  const key = getProbeKey(sellerId, 'send');
  await redis()
    .eval(endProbeScript, 1, key, circuitRules.probeIntervalMs)
    .catch(() => undefined);
}

/** Should it fail, the place is free again when the time of the call is over. */
async function release(sellerId: string, token: string): Promise<void> {
  const [orders, others] = getFlightKeys(sellerId);
  await Promise.all([redis().zrem(orders, token), redis().zrem(others, token)]).catch(() => undefined);
}

function getFlightKeys(sellerId: string): [orders: string, questions: string] {
  return [getFlightsKey(sellerId, 'orders'), getFlightsKey(sellerId, 'questions')];
}

function getPaceKey(sellerId: string): string {
  return `${env.QUEUE_PREFIX}:pace:{${sellerId}}`;
}
