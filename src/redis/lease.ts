import { env } from '../../config/env.js';
import { newId } from '../shared/ids.js';
import { redis } from './connection.js';

/** Only the holder renews or releases: one that was late must not touch the lease of the next. */
const release = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;
const renew = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`;

/**
 * Runs `work` unless another process of the fleet is at it. It only saves double work: a process that stops for
 * longer than `leaseMs` may find another one beside it, so nothing may depend on it for being right.
 * @returns null if another process holds the lease.
 * @throws what `work` throws, and Redis's own errors.
 */
export async function withLease<T>(name: string, leaseMs: number, work: () => Promise<T>): Promise<T | null> {
  const key = `${env.QUEUE_PREFIX}:lease:${name}`;
  const token = newId();
  if ((await redis().set(key, token, 'PX', leaseMs, 'NX')) !== 'OK') {
    return null;
  }
  const renewing = setInterval(() => {
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
