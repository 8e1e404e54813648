/**
 * One circuit breaker per provider, shared by all processes through Redis (decision 019). It opens
 * when half of at least 20 calls within 30 s failed. It also opens when 20 calls in a row failed,
 * or when over 5 % of the calls took the whole timeout. Calls that hang count as failed before
 * they end.
 *
 * An open circuit becomes half-open after 15 s. It then lets one real order through as a probe, at
 * most once a second. Three successful probes in a row close the circuit. A failed probe opens it
 * again. Status checks are never blocked.
 *
 * Each transition is one atomic step in Redis. While Redis is unavailable, every circuit counts as
 * closed. Workers get no jobs during that time.
 */
import { env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { batchCalls } from '../shared/concurrency.js';
import { boundedPttlLua, takeKey } from '../redis/bounded-times.js';
import { redis } from '../redis/connection.js';
import { getPauseKey, pauseLeftLua } from './pause.js';
import { countCircuitChange, sampleCircuit } from './provider-metrics.js';

export const circuitRules = {
  bucketMs: 3_000,
  buckets: 10,
  callsMin: 20,
  failureShare: 0.5,
  slowShare: 0.05,
  openMs: 15_000,
  probeIntervalMs: 1_000,
  probesToClose: 3,
  /**
   * An order in flight counts as hanging after this many times the mean duration. The two bounds
   * below limit the result. If the mean is unknown, the upper bound applies.
   */
  hangsAfterMeans: 4,
  hangsAfterMinMs: env.APP_MODE === 'sandbox' ? 1_500 : 5_000,
  hangsAfterMaxMs: env.APP_MODE === 'sandbox' ? 2_500 : 15_000,
} as const;

/**
 * Milliseconds for which an unsent probe is reserved. A sent probe is reserved for its timeout.
 */
const probePromiseMs = 5_000;
/** Upper bound of the timeout of a sent probe, in milliseconds. */
const probeMaxMs = 60_000;

/** A process without a heartbeat for this many milliseconds counts as dead or stalled. */
const heartbeatMaxAgeMs = 1_500;

/** Milliseconds for which a process caches a circuit's state. */
const readTtlMs = 200;

export interface CircuitView {
  /** The state is also `open` during a pause that the provider requested. */
  state: 'closed' | 'open' | 'half-open';
  /** Milliseconds until the requested pause ends. 0 if there is no pause. */
  pauseMs: number;
  /** Share of recent orders that were served, 0 to 1. Smoothed; it breaks ties in routing. */
  successRate: number;
  /** Mean duration of recent orders in milliseconds. Smoothed; it breaks ties in routing. */
  meanMs: number;
}

export interface CallRecord {
  /** True after no response, an error, or maintenance. The refusal of an order is not a failure. */
  failed: boolean;
  /** True if the call took the whole timeout. */
  slow: boolean;
  /** True if the provider accepted the order. */
  served: boolean;
  startedAt: number;
  durationMs: number;
}

/**
 * Records calls and applies the rules.
 *
 * KEYS: state, probe, buckets.
 *
 * ARGV: time, the seven rules, then five numbers per call, oldest first.
 */
const recordScript = `
local now, callsMin, failureShare, slowShare = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local openMs, probesToClose, bucketTtlMs = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local h = redis.call('HMGET', KEYS[1], 'state', 'changedAt', 'probes', 'rate', 'ms', 'inRow')
local state, changedAt, probes = h[1] or 'closed', tonumber(h[2] or '0'), tonumber(h[3] or '0')
-- A later time was written before the clock was set back.
changedAt = math.min(changedAt, now)
local inRow, mostInRow = tonumber(h[6] or '0'), 0
local rate, ms = tonumber(h[4] or '1'), tonumber(h[5] or ARGV[13])
local calls, fails, slows, said = 0, 0, 0, 'same'
local function change(to)
  state, changedAt, probes, said = to, now, 0, to
  calls, fails, slows, inRow = 0, 0, 0, 0
  for i = 3, #KEYS do redis.call('DEL', KEYS[i]) end
end
for i = 9, #ARGV, 5 do
  local started, failed, slow = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  rate = rate + 0.05 * (tonumber(ARGV[i + 3]) - rate)
  ms = ms + 0.05 * (tonumber(ARGV[i + 4]) - ms)
  -- A call that began before the last change says nothing about the time after it.
  if started >= changedAt then
    if state ~= 'open' then
      calls, fails, slows = calls + 1, fails + failed, slows + slow
      inRow = failed == 1 and inRow + 1 or 0
      mostInRow = math.max(mostInRow, inRow)
    elseif now - changedAt >= openMs then
      -- This call was a probe, and has ended.
      local probeMs = tonumber(ARGV[8])
      if redis.call('PTTL', KEYS[2]) > probeMs then redis.call('PEXPIRE', KEYS[2], probeMs) end
      if failed == 1 then
        changedAt, probes = now, 0
      else
        probes = probes + 1
        if probes >= probesToClose then change('closed') end
      end
    end
  end
end
if calls > 0 then
  redis.call('HINCRBY', KEYS[3], 'calls', calls)
  redis.call('HINCRBY', KEYS[3], 'failed', fails)
  redis.call('HINCRBY', KEYS[3], 'slow', slows)
  redis.call('PEXPIRE', KEYS[3], bucketTtlMs)
  calls, fails, slows = 0, 0, 0
  for i = 3, #KEYS do
    local b = redis.call('HMGET', KEYS[i], 'calls', 'failed', 'slow')
    calls, fails, slows = calls + tonumber(b[1] or '0'), fails + tonumber(b[2] or '0'), slows + tonumber(b[3] or '0')
  end
  local isDown = mostInRow >= callsMin or calls >= callsMin and fails >= calls * failureShare
  if isDown or calls >= callsMin and slows > calls * slowShare then change('open') end
end
redis.call('HSET', KEYS[1], 'state', state, 'changedAt', tostring(changedAt), 'probes', tostring(probes), 'rate', tostring(rate), 'ms', tostring(ms), 'inRow', tostring(inRow))
redis.call('PEXPIRE', KEYS[1], 86400000)
return said`;

/**
 * Returns the circuit's state, and opens the circuit if too many orders hang.
 *
 * KEYS: state, pause, orders in flight, heartbeats, buckets.
 *
 * ARGV: time, minimum calls, failure share, multiple of the mean after which a call hangs, lower
 * and upper bound of that time in ms, maximum age of a heartbeat in ms.
 */
const viewScript = `${boundedPttlLua}${pauseLeftLua}
local h = redis.call('HMGET', KEYS[1], 'state', 'changedAt', 'rate', 'ms')
local said = 'same'
-- A later time was written before the clock was set back.
if tonumber(h[2] or '0') > tonumber(ARGV[1]) then
  h[2] = ARGV[1]
  redis.call('HSET', KEYS[1], 'changedAt', h[2])
end
if h[1] ~= 'open' then
  local time = redis.call('TIME')
  local hangsMs = math.max(tonumber(ARGV[5]), math.min(tonumber(ARGV[6]), h[4] and tonumber(ARGV[4]) * tonumber(h[4]) or tonumber(ARGV[6])))
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local hung = 0
  for _, token in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], h[2] or '0', now - hangsMs, 'LIMIT', 0, 1000)) do
    -- Orders of a dead process say nothing about the provider.
    local beat = redis.call('ZSCORE', KEYS[4], string.sub(token, 1, string.find(token, ':') - 1))
    if beat and math.abs(now - tonumber(beat)) <= tonumber(ARGV[7]) then hung = hung + 1 end
  end
  if hung > 0 then
    local calls, fails = hung, hung
    for i = 5, #KEYS do
      local b = redis.call('HMGET', KEYS[i], 'calls', 'failed')
      calls, fails = calls + tonumber(b[1] or '0'), fails + tonumber(b[2] or '0')
    end
    if calls >= tonumber(ARGV[2]) and fails >= calls * tonumber(ARGV[3]) then
      h[1], h[2], said = 'open', ARGV[1], 'open'
      redis.call('HSET', KEYS[1], 'state', 'open', 'changedAt', ARGV[1], 'probes', '0', 'inRow', '0')
      redis.call('PEXPIRE', KEYS[1], 86400000)
      for i = 5, #KEYS do redis.call('DEL', KEYS[i]) end
    end
  end
end
return {h[1] or 'closed', h[2] or '0', h[3] or '1', h[4] or '0', pauseLeft(KEYS[2]), said}`;

/**
 * Records a sent order for the circuit. Concurrent records are batched. Never throws, because a
 * lost record does less harm than a lost order.
 */
export async function recordCall(sellerId: string, record: CallRecord): Promise<void> {
  const recorder =
    recorders.get(sellerId) ??
    batchCalls({ itemsMax: 100, run: (records: CallRecord[]) => recordCalls(sellerId, records) });
  recorders.set(sellerId, recorder);
  await recorder(record);
}

const recorders = new Map<string, (record: CallRecord) => Promise<null>>();

async function recordCalls(sellerId: string, records: CallRecord[]): Promise<null[]> {
  const now = nowMs();
  const buckets = getBucketKeys(sellerId, now);
  const { callsMin, failureShare, slowShare, openMs, probesToClose, bucketMs } = circuitRules;
  try {
    const newState = await redis().eval(
      recordScript,
      buckets.length + 2,
      getCircuitKey(sellerId, 'state'),
      getProbeKey(sellerId, 'send'),
      ...buckets,
      now,
      callsMin,
      failureShare,
      slowShare,
      openMs,
      probesToClose,
      bucketMs * (circuitRules.buckets + 1),
      circuitRules.probeIntervalMs,
      ...records.flatMap((each) => [
        each.startedAt,
        Number(each.failed),
        Number(each.slow),
        Number(each.served),
        each.durationMs,
      ]),
    );
    if (newState !== 'same') {
      cachedViews.delete(sellerId);
      recordChange(sellerId, String(newState), newState === 'open' ? 'failing' : 'served');
      logger.warn(`provider circuit ${String(newState)}`, { sellerId });
    }
  } catch (error) {
    logger.warn('provider calls not counted', { sellerId, calls: records.length, error });
  }
  return records.map(() => null);
}

/** Records a transition for the metrics and for the console's history. */
function recordChange(sellerId: string, to: string, because: string): void {
  countCircuitChange({ provider: sellerId, to });
  sampleCircuit(sellerId, to, because);
}

/**
 * Opens the circuit at once. Used if our key or address is wrong or our float is too low, because
 * the provider would refuse every order.
 */
export async function openCircuit(sellerId: string, reason: string): Promise<void> {
  cachedViews.delete(sellerId);
  try {
    await redis().hset(getCircuitKey(sellerId, 'state'), {
      state: 'open',
      changedAt: nowMs(),
      probes: 0,
      inRow: 0,
    });
    recordChange(sellerId, 'open', reason);
    logger.error('provider circuit opened: an operator must fix the cause', { sellerId, reason });
  } catch (error) {
    logger.error('provider circuit not opened', { sellerId, reason, error });
  }
}

/** Closes the circuit and clears its counts. Called after the operator has fixed the problem. */
export async function closeCircuit(sellerId: string): Promise<void> {
  cachedViews.delete(sellerId);
  await redis().hset(getCircuitKey(sellerId, 'state'), {
    state: 'closed',
    changedAt: nowMs(),
    probes: 0,
    inRow: 0,
  });
  sampleCircuit(sellerId, 'closed', 'operator');
}

const closed: CircuitView = { state: 'closed', pauseMs: 0, successRate: 1, meanMs: 0 };
const cachedViews = new Map<string, { view: CircuitView; until: number }>();

/** Returns the circuits of these sellers, at most 200 ms old. */
export async function readCircuits(sellerIds: string[]): Promise<Map<string, CircuitView>> {
  const now = nowMs();
  const stale = sellerIds.filter((id) => !isFresh(cachedViews.get(id), now));
  if (stale.length > 0) {
    try {
      const views = await Promise.all(stale.map((id) => readView(id, now)));
      stale.forEach((id, index) =>
        cachedViews.set(id, { view: views[index] ?? closed, until: now + readTtlMs }),
      );
    } catch {
      // The Redis connection reports the outage itself.
      stale.forEach((id) => cachedViews.set(id, { view: closed, until: now + readTtlMs }));
    }
  }
  return new Map(sellerIds.map((id) => [id, cachedViews.get(id)?.view ?? closed]));
}

async function readView(sellerId: string, now: number): Promise<CircuitView> {
  const { callsMin, failureShare, hangsAfterMeans, hangsAfterMinMs, hangsAfterMaxMs } = circuitRules;
  const buckets = getBucketKeys(sellerId, now);
  const [state, changedAt, rate, ms, pauseMs, said] = (await redis().eval(
    viewScript,
    buckets.length + 4,
    getCircuitKey(sellerId, 'state'),
    getPauseKey(sellerId),
    getInFlightKey(sellerId, 'orders'),
    getHeartbeatsKey(sellerId),
    ...buckets,
    now,
    callsMin,
    failureShare,
    hangsAfterMeans,
    hangsAfterMinMs,
    hangsAfterMaxMs,
    heartbeatMaxAgeMs,
  )) as [state: string, changedAt: string, rate: string, ms: string, pauseMs: number, said: string];
  if (said !== 'same') {
    recordChange(sellerId, said, 'hanging');
    logger.warn(`provider circuit ${said}`, { sellerId, because: 'its calls hang' });
  }
  const isDue = now - Number(changedAt) >= circuitRules.openMs;
  const wouldBe = state === 'open' ? (isDue ? 'half-open' : 'open') : 'closed';
  return {
    state: pauseMs > 0 ? 'open' : wouldBe,
    pauseMs: Math.max(0, pauseMs),
    successRate: Number(rate),
    meanMs: Number(ms),
  };
}

/**
 * Takes the probe of a half-open circuit. Only one caller among all processes gets true, at most
 * once a second.
 *
 * Accepting and sending each have their own probe. If they shared one, an accepted order could not
 * be sent, because its acceptance already holds the probe.
 */
export async function takeProbe(sellerId: string, purpose: 'accept' | 'send'): Promise<boolean> {
  try {
    const key = getProbeKey(sellerId, purpose);
    return await (purpose === 'send'
      ? takeKey(key, '1', probePromiseMs, probeMaxMs)
      : takeKey(key, '1', circuitRules.probeIntervalMs));
  } catch {
    return false;
  }
}

const onlyProbeScript = `${boundedPttlLua}
if boundedPttl(KEYS[2], ARGV[2]) ~= -2 or boundedPttl(KEYS[1], ARGV[1]) ~= -2 then return false end
return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])`;

/**
 * Like `takeProbe(…, 'accept')`, but returns false while any probe is reserved or in flight. Used
 * when another seller can serve the order.
 */
export async function takeOnlyProbe(sellerId: string): Promise<boolean> {
  const keys = [getProbeKey(sellerId, 'accept'), getProbeKey(sellerId, 'send')];
  try {
    const heldMs = circuitRules.probeIntervalMs;
    return (await redis().eval(onlyProbeScript, 2, ...keys, heldMs, probeMaxMs)) === 'OK';
  } catch {
    return false;
  }
}

// A test may set the clock back. An entry must not count as fresh because of that.
function isFresh(found: { until: number } | undefined, now: number): boolean {
  return found !== undefined && now < found.until && found.until - now <= readTtlMs;
}

/**
 * Returns the Redis key of the admitted calls that are not released yet. The score of a call is the
 * time from which it counts.
 */
export function getInFlightKey(sellerId: string, kind: 'orders' | 'questions'): string {
  return getCircuitKey(sellerId, `flights-${kind}`);
}

/**
 * Counts the calls in flight from all processes, by kind.
 * @throws Redis errors.
 */
export async function countCallsInFlight(sellerId: string): Promise<Record<'orders' | 'questions', number>> {
  const [orders, questions] = await Promise.all([
    redis().zcard(getInFlightKey(sellerId, 'orders')),
    redis().zcard(getInFlightKey(sellerId, 'questions')),
  ]);
  return { orders, questions };
}

/** Returns the Redis key of the last heartbeat of each process with long-running orders. */
export function getHeartbeatsKey(sellerId: string): string {
  return getCircuitKey(sellerId, 'beats');
}

/**
 * Returns the Redis key of the probe. Its holder may send (or accept) the one order that a
 * half-open circuit lets through.
 */
export function getProbeKey(sellerId: string, purpose: 'accept' | 'send'): string {
  return getCircuitKey(sellerId, `probe-${purpose}`);
}

function getBucketKeys(sellerId: string, now: number): string[] {
  const bucket = Math.floor(now / circuitRules.bucketMs);
  return Array.from({ length: circuitRules.buckets }, (_, age) => getCircuitKey(sellerId, bucket - age));
}

/** The hash tag keeps the keys of one provider on one node of a Redis Cluster. */
function getCircuitKey(sellerId: string, part: string | number): string {
  return `${env.QUEUE_PREFIX}:circuit:{${sellerId}}:${part}`;
}
