/**
 * Admission control limits the calls of all processes to a provider: by rate (evenly spaced), by
 * concurrency, and by pauses that the provider requests. Redis measures the time, so a host with a
 * wrong clock does not block calls. A call that would wait too long is rejected before anything is
 * sent.
 *
 * A call counts from its admission, so the circuit breaker sees hanging orders before they time
 * out.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { env } from '../../config/env.js';
import { logger } from '../shared/logger.js';
import { boundedPttlLua, boundScoresLua } from '../redis/bounded-times.js';
import { redis } from '../redis/connection.js';
import type { ProviderConnection } from './adapter.js';
import { startHeartbeat, createCallToken } from './heartbeats.js';
import { circuitRules, getInFlightKey, getProbeKey } from './circuit.js';
import { getPauseKey, pauseLeftLua } from './pause.js';
import { countNotAdmitted, observeAdmission } from './provider-metrics.js';

/** Maximum time in milliseconds that an inquiry waits for admission. */
export const admissionWaitMaxMs = 1_000;
/**
 * Maximum time in milliseconds that an order waits for admission. It is at the head of its queue,
 * so its wait delays no other order.
 */
const orderWaitMaxMs = 5_000;
const slotFreeEveryMs = 50;
/** The longest timeout of any adapter, in milliseconds. */
const inquiryTimeoutMs = 40_000;
/**
 * Margin in milliseconds after the timeout of a call. If the call is not released by then, its
 * process has died.
 */
const lifeMarginMs = 5_000;

/**
 * Admits a call, or returns the reason why not: {'go', ms until the call may begin}, {'slots', 0},
 * {'pace', ms}, {'pause', ms}.
 *
 * Redis's clock may be set back. A stored time that is later than any admission could have written
 * is replaced by the latest one possible, so that neither the rate nor the slots are exceeded.
 *
 * KEYS: pause, pace, orders in flight, inquiries in flight, probe.
 *
 * ARGV: token, ms between calls or 0, slots or 0, maximum wait, lifetime of a call, 1 for an order,
 * the longest maximum wait of any call.
 */
const admitScript = `${boundedPttlLua}${boundScoresLua}${pauseLeftLua}
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local interval, slots, waitMax, life = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local pause = pauseLeft(KEYS[1])
if pause > 0 then return {'pause', pause} end
local latest = now + tonumber(ARGV[7])
for i = 3, 4 do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now - life)
  boundScores(KEYS[i], latest, now)
end
if slots > 0 and redis.call('ZCARD', KEYS[3]) + redis.call('ZCARD', KEYS[4]) >= slots then return {'slots', 0} end
local at = now
if interval > 0 then
  local stored = tonumber(redis.call('GET', KEYS[2]) or '0')
  at = math.max(math.min(stored, latest + interval), now)
  if at < stored then redis.call('SET', KEYS[2], tostring(at), 'PX', math.ceil(at - now) + 1000) end
  if at - now > waitMax then return {'pace', math.ceil(at - now)} end
  redis.call('SET', KEYS[2], tostring(at + interval), 'PX', math.ceil(at + interval - now) + 1000)
end
local flights = ARGV[6] == '1' and KEYS[3] or KEYS[4]
redis.call('ZADD', flights, at, ARGV[1])
redis.call('PEXPIRE', flights, life * 2)
if ARGV[6] == '1' then redis.call('PEXPIRE', KEYS[5], life) end
return {'go', math.ceil(at - now)}`;

/**
 * An admitted call. Call `release` when the call has ended or was not made. Only the first
 * `release` counts.
 */
export interface Admission {
  release(how?: { sent: boolean }): Promise<void>;
}

/** Milliseconds after which a retry makes sense. */
export interface NotAdmitted {
  retryAfterMs: number;
}

/**
 * Admits an order. Call it before anything about the order is written, so that an order that must
 * wait leaves no data behind.
 * @param options.countsForCircuit False for an order that plays a sandbox scenario.
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
 * Admits an inquiry (status check, bill, balance) and calls the provider. Inquiries to one provider
 * use at most half of the process's concurrency, which leaves room for other providers.
 * @returns The result of `call`, or null if the provider is too busy and nothing was sent.
 */
export async function callWhenAdmitted<T>(
  connection: ProviderConnection,
  call: () => Promise<T>,
  { timeoutMs = inquiryTimeoutMs }: { timeoutMs?: number } = {},
): Promise<T | null> {
  const { sellerId } = connection;
  const asked = inquiriesBySeller.get(sellerId) ?? 0;
  if (asked >= inquiriesMax) {
    return null;
  }
  inquiriesBySeller.set(sellerId, asked + 1);
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
    inquiriesBySeller.set(sellerId, (inquiriesBySeller.get(sellerId) ?? 1) - 1);
  }
}

const inquiriesMax = Math.ceil(env.FULFILMENT_CONCURRENCY / 2);
const inquiriesBySeller = new Map<string, number>();

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
      orderWaitMaxMs,
    )) as AdmitReply;
  } catch (error) {
    // Without Redis the shared limits cannot be checked, so the call is rejected and retried later.
    logger.warn('provider limits could not be checked', { sellerId, error });
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

/** KEYS: probe. ARGV: the interval between probes. */
const endProbeScript = `
if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end`;

/**
 * Ends the probe if this order was the probe. The order was not sent, so the next order need not
 * wait for the probe.
 */
async function endProbe(sellerId: string): Promise<void> {
  const key = getProbeKey(sellerId, 'send');
  await redis()
    .eval(endProbeScript, 1, key, circuitRules.probeIntervalMs)
    .catch(() => undefined);
}

/**
 * Frees the slot of a call. If that fails, the slot becomes free when the lifetime of the call
 * ends.
 */
async function release(sellerId: string, token: string): Promise<void> {
  const [orders, others] = getFlightKeys(sellerId);
  await Promise.all([redis().zrem(orders, token), redis().zrem(others, token)]).catch(() => undefined);
}

function getFlightKeys(sellerId: string): [orders: string, questions: string] {
  return [getInFlightKey(sellerId, 'orders'), getInFlightKey(sellerId, 'questions')];
}

function getPaceKey(sellerId: string): string {
  return `${env.QUEUE_PREFIX}:pace:{${sellerId}}`;
}
