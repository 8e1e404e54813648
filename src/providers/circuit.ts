/**
 * One circuit per provider, shared by all processes through Redis: a provider that does not serve gets no new
 * orders. Closed, until half of at least 20 calls within 30 s failed, or 5 % of them took the whole time-out (p95).
 * Then open for 15 s; then half-open: one real order a second as a probe, until three in a row succeed or one
 * fails. Status checks are never held back by it. Each change is one atomic step in Redis, so that a hundred
 * workers see one opening. With Redis away every circuit counts as closed: workers get no jobs then anyway.
 */
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { redis } from '../redis/connection.js';

export const circuitRules = {
  bucketMs: 3_000,
  buckets: 10,
  callsMin: 20,
  failureShare: 0.5,
  slowShare: 0.05,
  openMs: 15_000,
  probeIntervalMs: 1_000,
  probesToClose: 3,
} as const;

/** How long a process may go on with what it last read. */
const readTtlMs = 200;

export interface CircuitView {
  state: 'closed' | 'open' | 'half-open';
  /** Share of recent orders that were served, 0 to 1, and their mean duration: smoothed, to break ties. */
  successRate: number;
  meanMs: number;
}

export interface CallRecord {
  /** The provider did not do its part: no answer, an error, under maintenance. A refusal of an order is none. */
  failed: boolean;
  /** It took the whole time-out. */
  slow: boolean;
  /** The order was accepted. */
  served: boolean;
  startedAt: number;
  durationMs: number;
}

const recordScript = `
local now, started = tonumber(ARGV[1]), tonumber(ARGV[2])
local failed, slow, served, duration = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local callsMin, failureShare, slowShare = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local openMs, probesToClose, bucketTtlMs = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local h = redis.call('HMGET', KEYS[1], 'state', 'changedAt', 'probes', 'rate', 'ms')
local state, changedAt, probes = h[1] or 'closed', tonumber(h[2] or '0'), tonumber(h[3] or '0')
local rate, ms = tonumber(h[4] or '1'), tonumber(h[5] or ARGV[6])
redis.call('HSET', KEYS[1], 'rate', tostring(rate + 0.05 * (served - rate)), 'ms', tostring(ms + 0.05 * (duration - ms)))
redis.call('PEXPIRE', KEYS[1], 86400000)
local function change(to)
  redis.call('HSET', KEYS[1], 'state', to, 'changedAt', ARGV[1], 'probes', '0')
  for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
  return to
end
-- A call that began before the last change says nothing about the time after it.
if started < changedAt then return 'same' end
if state == 'open' then
  if now - changedAt < openMs then return 'same' end
  if failed == 1 then
    redis.call('HSET', KEYS[1], 'changedAt', ARGV[1], 'probes', '0')
    return 'same'
  end
  if probes + 1 >= probesToClose then return change('closed') end
  redis.call('HINCRBY', KEYS[1], 'probes', 1)
  return 'same'
end
redis.call('HINCRBY', KEYS[2], 'calls', 1)
redis.call('HINCRBY', KEYS[2], 'failed', failed)
redis.call('HINCRBY', KEYS[2], 'slow', slow)
redis.call('PEXPIRE', KEYS[2], bucketTtlMs)
local calls, fails, slows = 0, 0, 0
for i = 2, #KEYS do
  local b = redis.call('HMGET', KEYS[i], 'calls', 'failed', 'slow')
  calls, fails, slows = calls + tonumber(b[1] or '0'), fails + tonumber(b[2] or '0'), slows + tonumber(b[3] or '0')
end
if calls >= callsMin and (fails >= calls * failureShare or slows > calls * slowShare) then return change('open') end
return 'same'`;

/** Counts one order that was sent. Never throws: a lost count is better than a lost order. */
export async function recordCall(sellerId: string, record: CallRecord): Promise<void> {
  const now = nowMs();
  const bucket = Math.floor(now / circuitRules.bucketMs);
  const buckets = Array.from({ length: circuitRules.buckets }, (_, age) => keyOf(sellerId, bucket - age));
  const rules = circuitRules;
  try {
    const change = await redis().eval(
      recordScript,
      buckets.length + 1,
      ...[keyOf(sellerId, 'state'), ...buckets],
      ...[now, record.startedAt, Number(record.failed), Number(record.slow), Number(record.served)],
      ...[record.durationMs, rules.callsMin, rules.failureShare, rules.slowShare, rules.openMs],
      ...[rules.probesToClose, rules.bucketMs * (rules.buckets + 1)],
    );
    if (change !== 'same') {
      seen.delete(sellerId);
      logger.warn(`provider circuit ${String(change)}`, { sellerId });
    }
  } catch (error) {
    logger.warn('provider call not counted', { sellerId, error });
  }
}

/** Opens the circuit at once: our key, address or float at the provider is wrong, and every order would be refused. */
export async function openCircuit(sellerId: string, reason: string): Promise<void> {
  seen.delete(sellerId);
  try {
    await redis().hset(keyOf(sellerId, 'state'), { state: 'open', changedAt: nowMs(), probes: 0 });
    logger.error('provider circuit opened: the operator must look', { sellerId, reason });
  } catch (error) {
    logger.error('provider circuit not opened', { sellerId, reason, error });
  }
}

/** The operator has repaired it: closed, with nothing counted. */
export async function closeCircuit(sellerId: string): Promise<void> {
  seen.delete(sellerId);
  await redis().hset(keyOf(sellerId, 'state'), { state: 'closed', changedAt: nowMs(), probes: 0 });
}

const closed: CircuitView = { state: 'closed', successRate: 1, meanMs: 0 };
const seen = new Map<string, { view: CircuitView; until: number }>();

/** The circuits of these sellers as they are now, at most 200 ms old. */
export async function circuitsOf(sellerIds: string[]): Promise<Map<string, CircuitView>> {
  const now = nowMs();
  const stale = sellerIds.filter((id) => !isFresh(seen.get(id), now));
  if (stale.length > 0) {
    try {
      const rows = await Promise.all(
        stale.map((id) => redis().hmget(keyOf(id, 'state'), 'state', 'changedAt', 'rate', 'ms')),
      );
      stale.forEach((id, index) =>
        seen.set(id, { view: toView(rows[index] ?? [], now), until: now + readTtlMs }),
      );
    } catch {
      // The outage is reported by the connection itself.
      stale.forEach((id) => seen.set(id, { view: closed, until: now + readTtlMs }));
    }
  }
  return new Map(sellerIds.map((id) => [id, seen.get(id)?.view ?? closed]));
}

/**
 * Half-open: true for one caller a second. Accepting an order and sending it have a token each, or an accepted
 * probe could never be sent.
 */
export async function takeProbe(sellerId: string, purpose: 'accept' | 'send'): Promise<boolean> {
  try {
    const key = keyOf(sellerId, `probe-${purpose}`);
    return (await redis().set(key, '1', 'PX', circuitRules.probeIntervalMs, 'NX')) === 'OK';
  } catch {
    return false;
  }
}

// A clock that a test turned back must not freeze what was seen.
function isFresh(found: { until: number } | undefined, now: number): boolean {
  return found !== undefined && now < found.until && found.until - now <= readTtlMs;
}

function toView([state, changedAt, rate, ms]: (string | null)[], now: number): CircuitView {
  const isDue = now - Number(changedAt ?? 0) >= circuitRules.openMs;
  return {
    state: state === 'open' ? (isDue ? 'half-open' : 'open') : 'closed',
    successRate: Number(rate ?? 1),
    meanMs: Number(ms ?? 0),
  };
}

/** The braces keep the keys of one provider on one node of a Redis cluster. */
function keyOf(sellerId: string, part: string | number): string {
  return `${env.QUEUE_PREFIX}:circuit:{${sellerId}}:${part}`;
}
