import { env } from '../../config/env.js';
import { newId } from '../shared/ids.js';
import { redis } from './connection.js';

/** Work whose end never comes must not keep everybody else from it. */
const holdMaxMs = 15 * 60_000;

/** Only the holder renews or releases: one that was late must not touch the lease of the next. */
const release = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;
const renew = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`;

const takeFirst = `for index, key in ipairs(KEYS) do
  if redis.call('set', key, ARGV[1], 'PX', ARGV[2], 'NX') then return index end
end return 0`;

/** One of several leases, held for as long as its holder renews it. */
export interface Lease {
  /** Which of them. */
  index: number;
  /** By the holder's own clock; 0 or less once it is over. */
  remainingMs(): number;
  /** Never throws: without Redis it comes to its end. */
  renew(): Promise<void>;
}

/**
 * Takes the first of these leases that nobody holds, or null. There is no timer behind it: whoever uses it renews it.
 * @throws Redis's own errors.
 */
export async function leaseFirstFree(names: string[], leaseMs: number): Promise<Lease | null> {
  const keys = names.map(keyOf);
  const token = newId();
  let untilMs = performance.now() + leaseMs;
  const index = Number(await redis().eval(takeFirst, keys.length, ...keys, token, leaseMs)) - 1;
  const key = keys[index];
  if (key === undefined) {
    return null;
  }
  return {
    index,
    remainingMs: () => untilMs - performance.now(),
    async renew() {
      const askedAtMs = performance.now();
      const renewed = await redis()
        .eval(renew, 1, key, token, leaseMs)
        .catch(() => null);
      if (renewed !== null) {
        untilMs = renewed === 1 ? askedAtMs + leaseMs : -Infinity;
      }
    },
  };
}

/** One hash tag: a script looks at several of them at once. */
function keyOf(name: string): string {
  return `${env.QUEUE_PREFIX}:{lease}:${name}`;
}

/**
 * Runs `work` unless another process of the fleet is at it. It only saves double work: a process that stops for
 * longer than `leaseMs`, or works for more than a quarter of an hour, may find another one beside it, so nothing may depend on it for being right.
 * @returns null if another process holds the lease.
 * @throws what `work` throws, and Redis's own errors.
 */
export async function withLease<T>(name: string, leaseMs: number, work: () => Promise<T>): Promise<T | null> {
  const key = keyOf(name);
  const token = newId();
  if ((await redis().set(key, token, 'PX', leaseMs, 'NX')) !== 'OK') {
    return null;
  }
  const startedAt = performance.now();
  const renewing = setInterval(() => {
    if (performance.now() - startedAt > holdMaxMs) {
      clearInterval(renewing);
      return;
    }
    // Should it fail, another process takes over when the lease ends.
    redis()
      .eval(renew, 1, key, token, leaseMs)
      .catch(() => undefined);
  }, leaseMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    await redis()
      .eval(release, 1, key, token)
      .catch(() => undefined);
  }
}
