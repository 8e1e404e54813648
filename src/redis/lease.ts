import { env } from '../../config/env.js';
import { newId } from '../shared/ids.js';
import { takeFirstKey, takeKey } from './bounded-times.js';
import { redis } from './connection.js';

/**
 * Work that reports no progress for this many milliseconds counts as hanging, and loses its lease.
 */
const silenceMaxMs = 15 * 60_000;

/**
 * Releases a lease. Only the holder renews or releases it, so that a late holder cannot affect the
 * next holder.
 */
const releaseScript = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;
const renewScript = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`;

/**
 * Renews a lease. If the lease expired or Redis lost it, takes it again unless another process has
 * it.
 */
const renewOrTakeScript = `local holder = redis.call('get', KEYS[1])
if holder == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end
if holder then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** One of several leases. The holder keeps it by renewing it. */
export interface Lease {
  /** Index of the lease in `names`. */
  index: number;
  /** Remaining time on the holder's own clock. 0 or less once the lease has ended. */
  remainingMs(): number;
  /** Renews the lease. Never throws. If Redis is unavailable, the lease expires. */
  renew(): Promise<void>;
}

/**
 * Takes the first free lease, or returns null. There is no timer, so the caller must renew the
 * lease.
 * @throws Redis errors.
 */
export async function leaseFirstFree(names: string[], leaseMs: number): Promise<Lease | null> {
  const keys = names.map(getLeaseKey);
  const token = newId();
  let untilMs = performance.now() + leaseMs;
  const index = await takeFirstKey(keys, token, leaseMs);
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
        .eval(renewScript, 1, key, token, leaseMs)
        .catch(() => null);
      if (renewed !== null) {
        untilMs = renewed === 1 ? askedAtMs + leaseMs : -Infinity;
      }
    },
  };
}

/** All leases share one hash tag, because a script uses several of them at once. */
function getLeaseKey(name: string): string {
  return `${env.QUEUE_PREFIX}:{lease}:${name}`;
}

/** The lease ended while its holder was working. Another process may have taken the lease. */
export class LeaseOverError extends Error {}

/** The handle that work gets while it holds a lease. */
export interface HeldLease {
  /**
   * Reports progress, which keeps the lease.
   * @throws LeaseOverError if the lease has ended. The work must stop, because another process may
   *   have taken the lease.
   */
  goesOn: () => void;
  /**
   * Rejects with LeaseOverError when the lease ends, for work that waits on something that may
   * hang.
   */
  over: Promise<never>;
}

/**
 * Runs `work` unless another process holds the lease. The lease only avoids duplicate work;
 * correctness must not depend on it. Two processes may run at once if the holder pauses for longer
 * than `leaseMs`, or reports no progress for 15 minutes.
 *
 * @param options.holdMaxMs Maximum time for which work with progress keeps the lease.
 * @returns Null if another process holds the lease.
 * @throws Redis errors and the errors of `work`.
 */
export async function withLease<T>(
  name: string,
  leaseMs: number,
  work: (held: HeldLease) => Promise<T>,
  { holdMaxMs = silenceMaxMs }: { holdMaxMs?: number } = {},
): Promise<T | null> {
  const key = getLeaseKey(name);
  const token = newId();
  if (!(await takeKey(key, token, leaseMs))) {
    return null;
  }
  const { held, end } = keepLease({ key, token, name, leaseMs, holdMaxMs });
  try {
    return await work(held);
  } finally {
    end();
    await redis()
      .eval(releaseScript, 1, key, token)
      .catch(() => undefined);
  }
}

function keepLease(lease: { key: string; token: string; name: string; leaseMs: number; holdMaxMs: number }) {
  const { key, token, name, leaseMs, holdMaxMs } = lease;
  const startedMs = performance.now();
  let heardMs = startedMs;
  let isOver = false;
  let rejectOver: (error: LeaseOverError) => void = () => undefined;
  const over = new Promise<never>((_, reject) => (rejectOver = reject));
  // Most work does not use `over`; an unhandled rejection would end the process.
  over.catch(() => undefined);
  const error = () => new LeaseOverError(`The lease ${name} has ended; another process may hold it.`);
  const end = () => {
    isOver = true;
    clearInterval(renewing);
  };
  const lose = () => {
    end();
    rejectOver(error());
  };
  const renewing = setInterval(() => {
    const atMs = performance.now();
    if (atMs - heardMs > silenceMaxMs || atMs - startedMs > holdMaxMs) {
      lose();
      return;
    }
    // If the renewal fails, the lease ends and another process may take it.
    redis()
      .eval(renewOrTakeScript, 1, key, token, leaseMs)
      .then(
        (renewed) => {
          if (renewed === 0 && !isOver) {
            lose();
          }
        },
        () => undefined,
      );
  }, leaseMs / 3);
  const held: HeldLease = {
    over,
    goesOn() {
      if (isOver) {
        throw error();
      }
      heardMs = performance.now();
    },
  };
  return { held, end };
}
