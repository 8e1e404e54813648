import { env } from '../../config/env.js';
import { newId } from '../shared/ids.js';
import { redis } from './connection.js';

/** Work whose end never comes must not keep everybody else from it: what has not gone on for so long is taken for that. */
const silenceMaxMs = 15 * 60_000;

/** Only the holder renews or releases: one that was late must not touch the lease of the next. */
const release = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;
const renew = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`;

/** Of one that Redis has lost, or let expire while it was away, and that nobody has taken since: it is the holder's still. */
const renewOrTake = `local holder = redis.call('get', KEYS[1])
if holder == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end
if holder then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

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
  const keys = names.map(getLeaseKey);
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
function getLeaseKey(name: string): string {
  return `${env.QUEUE_PREFIX}:{lease}:${name}`;
}

/** The lease is over while its holder works on: another process may be at it by now. */
export class LeaseOverError extends Error {}

/** What work that holds a lease can say, and hear. Nobody has to. */
export interface Held {
  /** It has come further, and keeps the lease. @throws LeaseOverError: then it must end, another process may be at it. */
  goesOn: () => void;
  /** Rejects with LeaseOverError when the lease is over: for whoever waits for work that may hang. */
  over: Promise<never>;
}

/**
 * Runs `work` unless another process of the fleet is at it. It only saves double work: a process that stops for
 * longer than `leaseMs`, or works for more than a quarter of an hour without a word, may find another one beside it, so nothing may depend on it for being right.
 * @param options.holdMaxMs The most that work which says that it goes on keeps the lease.
 * @returns null if another process holds the lease.
 * @throws what `work` throws, and Redis's own errors.
 */
export async function withLease<T>(
  name: string,
  leaseMs: number,
  work: (held: Held) => Promise<T>,
  { holdMaxMs = silenceMaxMs }: { holdMaxMs?: number } = {},
): Promise<T | null> {
  const key = getLeaseKey(name);
  const token = newId();
  if ((await redis().set(key, token, 'PX', leaseMs, 'NX')) !== 'OK') {
    return null;
  }
  const { held, end } = hold({ key, token, name, leaseMs, holdMaxMs });
  try {
    return await work(held);
  } finally {
    end();
    await redis()
      .eval(release, 1, key, token)
      .catch(() => undefined);
  }
}

function hold(lease: { key: string; token: string; name: string; leaseMs: number; holdMaxMs: number }) {
  const { key, token, name, leaseMs, holdMaxMs } = lease;
  const startedMs = performance.now();
  let heardMs = startedMs;
  let isOver = false;
  let tellOver: (error: LeaseOverError) => void = () => undefined;
  const over = new Promise<never>((_, reject) => (tellOver = reject));
  // Most work does not listen.
  over.catch(() => undefined);
  const error = () => new LeaseOverError(`The lease ${name} is over; another process may be at it.`);
  const end = () => {
    isOver = true;
    clearInterval(renewing);
  };
  const lose = () => {
    end();
    tellOver(error());
  };
  const renewing = setInterval(() => {
    const atMs = performance.now();
    if (atMs - heardMs > silenceMaxMs || atMs - startedMs > holdMaxMs) {
      lose();
      return;
    }
    // Should it fail, another process takes over when the lease ends.
    redis()
      .eval(renewOrTake, 1, key, token, leaseMs)
      .then(
        (renewed) => {
          if (renewed === 0 && !isOver) {
            lose();
          }
        },
        () => undefined,
      );
  }, leaseMs / 3);
  const held: Held = {
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
