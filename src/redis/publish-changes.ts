/**
 * Cache invalidation: announces changes to all processes, and waits until no process caches the old
 * value.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../../config/limits.js';
import { logger } from '../shared/logger.js';
import { boundScoresLua } from './bounded-times.js';
import { redis } from './connection.js';
import {
  changesChannel,
  subscribeToAcks,
  subscribersKey,
  awaitAckSubscription,
  onAcks,
  notifyListeners,
  changeCountKey,
  type Change,
} from './subscribe-changes.js';
import { processId } from './process-id.js';
import type { Model } from 'mongoose';
import { isMongoUnavailable } from '../database/mongo.js';
import {
  getCollectionName,
  getWritableModel,
  type AnyReadOnlyModel,
  type ReadOnlyModel,
} from '../database/read-only-model.js';
import { DependencyError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';

/** Milliseconds after which Redis counts as unavailable. */
const publishTimeoutMs = 300;
const retryMs = 1_000;

const publishScript = `${boundScoresLua}
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
boundScores(KEYS[1], now + ARGV[3], now + ARGV[3])
local seq = redis.call('incr', KEYS[2])
redis.call('publish', ARGV[1], '{"seq":' .. seq .. ',' .. string.sub(ARGV[2], 2))
return redis.call('zrange', KEYS[1], 0, -1)`;

/**
 * Invalidates the caches of this process at once, and announces the change to the other processes.
 * Waits for at most `publishTimeoutMs`, and never throws.
 */
export async function publishChange(change: Change): Promise<void> {
  subscribeToAcks();
  notifyListeners(change);
  await publish(change).catch(() => undefined);
}

/**
 * Like `publishChange`, but resolves when every subscribed process has invalidated its cache or
 * lost its subscription. A process that does not acknowledge (killed, stopped, disconnected) stays
 * subscribed for at most `limits.hearingMs`.
 *
 * Never throws, because the change is already committed.
 */
export async function publishAndAwaitAcks(change: Change): Promise<void> {
  const deaf = new AbortController();
  const acknowledged = new Set([processId]);
  let wanted: string[] | null = null;
  const stopHearing = onAcks(change.id, (hearer) => {
    acknowledged.add(hearer);
    endIfAllHeard();
  });
  const endIfAllHeard = () => {
    if (wanted?.every((each) => acknowledged.has(each))) {
      deaf.abort();
    }
  };
  notifyListeners(change);
  try {
    await awaitAckSubscription(publishTimeoutMs);
    wanted = await publish(change);
    endIfAllHeard();
  } catch (error) {
    logger.warn('change not published yet: Redis is unavailable', { collections: change.collections, error });
    void retryPublishing(change);
  }
  // By then, a process that has not received the change is unsubscribed. Beats sent before the
  // change extend no subscription beyond this time.
  await wait(limits.hearingMs + 10, undefined, { signal: deaf.signal }).catch(() => undefined);
  stopHearing();
}

/**
 * @returns The ids of the subscribed processes.
 * @throws Error if Redis does not accept the change in time.
 */
async function publish(change: Change): Promise<string[]> {
  const timeout = new AbortController();
  const published = redis().eval(
    publishScript,
    2,
    subscribersKey,
    changeCountKey,
    changesChannel,
    JSON.stringify(change),
    limits.hearingMs,
  );
  const late = wait(publishTimeoutMs, undefined, { signal: timeout.signal }).then(() => {
    throw new Error('Publishing a change to Redis timed out');
  });
  try {
    return (await Promise.race([published, late])) as string[];
  } finally {
    timeout.abort();
    Promise.allSettled([published, late]).catch(() => undefined);
  }
}

/**
 * Publishes again in the background. Other processes may be subscribed although this process cannot
 * reach Redis. After `limits.cacheMs`, every cached value has expired anyway.
 */
async function retryPublishing(change: Change): Promise<void> {
  const until = performance.now() + limits.cacheMs;
  while (performance.now() < until) {
    await wait(retryMs, undefined, { ref: false });
    try {
      await publish(change);
      return;
    } catch {
      // The first failure was logged already.
    }
  }
}

type Writers<M> = { [I in keyof M]: M[I] extends ReadOnlyModel<infer T> ? Model<T> : never };

/**
 * Writes models that processes cache (`createCache`). There is no other way to write them. After it
 * returns, the next call in every process sees the change (decision 051). This takes milliseconds,
 * or up to 1.5 s if a process has just died or Redis is unavailable.
 *
 * The change is also announced before the write. If this process dies after the commit, other
 * processes cache values that they read meanwhile only for `limits.cacheDeafMs`.
 *
 * @param subjects Ids of the changed accounts, or codes of the changed products. Null means all.
 * @param write Resolves after the commit. A database transaction belongs inside it, never around
 *   it.
 * @throws The errors of `write`.
 */
export async function writeAndInvalidate<const M extends readonly AnyReadOnlyModel[], R>(
  models: M,
  subjects: string[] | null,
  write: (...writers: Writers<M>) => Promise<R>,
): Promise<R> {
  const change = { id: newId(), by: processId, collections: models.map(getCollectionName), subjects };
  await publishChange({ ...change, phase: 'begin' });
  let phase: 'end' | 'unsure' = 'end';
  try {
    return await write(...(models.map(getWritableModel) as unknown as Writers<M>));
  } catch (error) {
    if (error instanceof DependencyError || isMongoUnavailable(error)) {
      // The write may still be committed.
      phase = 'unsure';
    }
    throw error;
  } finally {
    await publishAndAwaitAcks({ ...change, phase });
  }
}
