/** Tells every process of a change to what they keep in memory, and waits until none remembers what was before. */
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../../config/limits.js';
import { logger } from '../shared/logger.js';
import { redis } from './connection.js';
import {
  changesChannel,
  subscribeToAcks,
  hearersKey,
  awaitAckSubscription,
  onAcks,
  notifyListeners,
  toldKey,
  type Change,
} from './subscribe-changes.js';
import { processId } from './process-id.js';
import type { Model } from 'mongoose';
import { isMongoUnavailable } from '../database/mongo.js';
import {
  getCollectionName,
  writerOf,
  type AnyReadOnlyModel,
  type ReadOnlyModel,
} from '../database/read-only-model.js';
import { DependencyError } from '../shared/errors.js';
import { newId } from '../shared/ids.js';

/** Redis takes a change within this, or it counts as away. */
const patienceMs = 300;
const tryAgainMs = 1_000;

const tellScript = `
local time = redis.call('time')
redis.call('zremrangebyscore', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000))
local seq = redis.call('incr', KEYS[2])
redis.call('publish', ARGV[1], '{"seq":' .. seq .. ',' .. string.sub(ARGV[2], 2))
return redis.call('zrange', KEYS[1], 0, -1)`;

/** This process forgets at once, the others soon. Never waits long, and never throws. */
export async function publishChange(change: Change): Promise<void> {
  subscribeToAcks();
  notifyListeners(change);
  await publish(change).catch(() => undefined);
}

/**
 * As `tell`; resolves when every process that heard has forgotten, or does not hear any more. A process that says
 * nothing (killed, stopped, cut off) hears for `limits.hearingMs` at most. Never throws: the change holds already.
 */
export async function publishAndAwaitAcks(change: Change): Promise<void> {
  const deaf = new AbortController();
  const heard = new Set([processId]);
  let wanted: string[] | null = null;
  const stopHearing = onAcks(change.id, (hearer) => {
    heard.add(hearer);
    endIfAllHeard();
  });
  const endIfAllHeard = () => {
    if (wanted?.every((each) => heard.has(each))) {
      deaf.abort();
    }
  };
  notifyListeners(change);
  try {
    await awaitAckSubscription(patienceMs);
    wanted = await publish(change);
    endIfAllHeard();
  } catch (error) {
    logger.warn('a change is not told yet: Redis is away', { collections: change.collections, error });
    void retryPublishing(change);
  }
  // No beat that went out before can make anybody hear for longer.
  await wait(limits.hearingMs + 10, undefined, { signal: deaf.signal }).catch(() => undefined);
  stopHearing();
}

/** @returns the processes that hear. @throws Error if Redis did not take it in time. */
async function publish(change: Change): Promise<string[]> {
  const patience = new AbortController();
  const told = redis().eval(tellScript, 2, hearersKey, toldKey, changesChannel, JSON.stringify(change));
  const late = wait(patienceMs, undefined, { signal: patience.signal }).then(() => {
    throw new Error('Redis did not take a change in time');
  });
  try {
    return (await Promise.race([told, late])) as string[];
  } finally {
    patience.abort();
    Promise.allSettled([told, late]).catch(() => undefined);
  }
}

/** Others may hear although we do not reach Redis. After `limits.cacheMs` nobody remembers in any case. */
async function retryPublishing(change: Change): Promise<void> {
  const until = performance.now() + limits.cacheMs;
  while (performance.now() < until) {
    await wait(tryAgainMs, undefined, { ref: false });
    try {
      await publish(change);
      return;
    } catch {
      // Said once, when it began.
    }
  }
}

type Writers<M> = { [I in keyof M]: M[I] extends ReadOnlyModel<infer T> ? Model<T> : never };

/**
 * The only way to write what processes keep in memory (`cached`). When it returns, the next call in every process
 * sees the change (decision 051); that costs milliseconds, and up to a second and a half where a process has
 * just died or Redis is away.
 *
 * It is told before the write as well: should this process die after the commit, the others keep what they
 * read meanwhile for `limits.cacheDeafMs` only.
 * @param subjects Ids of the accounts, or codes of the products, that change; null: all.
 * @param write Ends when the change holds: a database transaction is inside of it, never around it.
 * @throws what `write` throws.
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
    return await write(...(models.map(writerOf) as unknown as Writers<M>));
  } catch (error) {
    if (error instanceof DependencyError || isMongoUnavailable(error)) {
      // It may still come to hold.
      phase = 'unsure';
    }
    throw error;
  } finally {
    await publishAndAwaitAcks({ ...change, phase });
  }
}
