/**
 * Subscription to cache invalidations (decision 051). Each process publishes its own beats through
 * Redis and receives them on the same connection as the changes. After each returned beat, the
 * process counts as *subscribed* for `limits.hearingMs`.
 *
 * Redis keeps the order of messages on a connection. So a returned beat proves that every change
 * published before it has arrived.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { repeat } from '../shared/repeat.js';
import { beforeDisconnect, buildSiblingKey, createSubscriberConnection, redis } from './connection.js';
import { processId } from './process-id.js';
import { logRedisError } from './connection-errors.js';

/**
 * A change of cached data. `begin` is sent before the write and `end` after the commit. `unsure`
 * means that the outcome is unknown.
 */
export interface Change {
  id: string;
  /** Id of the process that makes the change. */
  by: string;
  phase: 'begin' | 'end' | 'unsure';
  collections: string[];
  /** Ids of the accounts or codes of the products. Null means all. */
  subjects: string[] | null;
  /**
   * Sequence number, which Redis adds when the change is published. Absent in changes from an
   * earlier release.
   */
  seq?: number;
}

export interface Listener {
  onChange(change: Change): void;
  /** Called when changes may have been missed. */
  onGap(): void;
}

export const changesChannel = `${env.QUEUE_PREFIX}:changes`;
/**
 * Sorted set of the subscribed processes, scored by the time when each subscription expires (Redis
 * clock).
 */
export const subscribersKey = `${env.QUEUE_PREFIX}:hearers`;
/**
 * Number of published changes. One script uses this key and `subscribersKey`, so both are on the
 * same node.
 */
export const changeCountKey = buildSiblingKey(subscribersKey, 'told');

const heartbeatIntervalMs = 300;
/**
 * Milliseconds without a returned beat, although beats are sent, after which the connection is dead
 * and is reopened.
 */
const deadConnectionMs = 3_000;

const listeners = new Set<Listener>();
const ackListeners = new Map<string, (hearer: string) => void>();
let subscriber: Redis | null = null;
let connections = 0;
let subscribed = 0;
let lastBackAt = 0;
/** End of the subscription on the monotonic clock, which cannot be set. */
let subscribedUntil = 0;
let subscriptionEpoch = 0;
/** Sequence number of the last received change. All earlier changes were received, too. */
let lastSeq = 0;

/**
 * Returns a number other than 0 while this process receives every change. If the number differs
 * from an earlier call, the process was unsubscribed in between.
 */
export function getSubscriptionEpoch(): number {
  return performance.now() < subscribedUntil ? subscriptionEpoch : 0;
}

export function addListener(listener: Listener): void {
  listeners.add(listener);
}

export function notifyListeners(change: Change): void {
  listeners.forEach((each) => {
    each.onChange(change);
  });
}

/**
 * Calls `onAck` for each process that acknowledges a change.
 * @returns A function that removes the callback.
 */
export function onAcks(changeId: string, onAck: (hearer: string) => void): () => void {
  ackListeners.set(changeId, onAck);
  return () => ackListeners.delete(changeId);
}

/**
 * Subscribes to changes, for processes that keep long-lived caches. Resolves when subscribed, but
 * no later than after `limits.hearingMs`. The subscription ends with `disconnectRedis`.
 */
export async function subscribeToChanges(): Promise<void> {
  subscribe([changesChannel, getChannel(processId)]);
  const beating = repeat({ name: 'hear changes', everyMs: heartbeatIntervalMs, run: sendHeartbeat });
  beforeDisconnect(async () => {
    await beating.stop();
    subscribedUntil = 0;
    await redis().zrem(subscribersKey, processId);
  });
  await waitUntil(() => getSubscriptionEpoch() !== 0, limits.hearingMs);
}

/** Subscribes to acknowledgements, for processes that only publish changes. */
export function subscribeToAcks(): void {
  if (!subscriber) {
    subscribe([getChannel(processId)]);
  }
}

/** Resolves when acknowledgements can be received, but no later than after `timeoutMs`. */
export async function awaitAckSubscription(timeoutMs: number): Promise<void> {
  await waitUntil(() => subscribed !== 0, timeoutMs);
}

async function waitUntil(condition: () => boolean, timeoutMs: number): Promise<void> {
  const startedAt = performance.now();
  while (!condition() && performance.now() - startedAt < timeoutMs) {
    await wait(2);
  }
}

function getChannel(id: string): string {
  return `${env.QUEUE_PREFIX}:process:${id}`;
}

function subscribe(channels: string[]): void {
  const connection = createSubscriberConnection();
  subscriber = connection;
  const subscribeNow = () => {
    connections += 1;
    const mine = connections;
    connection.subscribe(...channels).then(
      () => {
        subscribed = mine;
        lastBackAt = performance.now();
        void sendHeartbeat();
      },
      (error: unknown) => {
        logRedisError('cache invalidations are not received', error);
        setTimeout(() => {
          // A Cluster is ready before it has chosen a node for subscriptions. Other connections
          // reconnect automatically.
          if (connection.status === 'ready' && connections === mine) {
            subscribeNow();
          }
        }, heartbeatIntervalMs).unref();
      },
    );
  };
  connection.on('ready', subscribeNow);
  connection.on('close', () => {
    subscribed = 0;
    subscribedUntil = 0;
  });
  connection.on('message', (channel: string, text: string) => {
    if (channel === changesChannel) {
      receiveChange(JSON.parse(text) as Change);
    } else {
      receiveOwnMessage(text.split(' '));
    }
  });
  beforeDisconnect(() => {
    subscriber = null;
    subscribed = 0;
    connection.disconnect();
    return Promise.resolve();
  });
}

function receiveChange(change: Change): void {
  if (change.seq !== undefined) {
    reportGapUnless(change.seq === lastSeq + 1);
    lastSeq = change.seq;
  }
  if (change.by === processId) {
    return;
  }
  notifyListeners(change);
  if (change.phase !== 'begin') {
    // The process that made the change waits for this acknowledgement, but not for long.
    redis()
      .publish(getChannel(change.by), `ack ${change.id} ${processId}`)
      .catch(() => undefined);
  }
}

/**
 * Reports missed changes. A node of a Cluster forwards published messages, unless its connection
 * fails at that moment.
 */
function reportGapUnless(isNext: boolean): void {
  if (!isNext && getSubscriptionEpoch() !== 0) {
    listeners.forEach((each) => {
      each.onGap();
    });
  }
}

function receiveOwnMessage([kind, first = '', second = '', third = '']: string[]): void {
  if (kind === 'ack') {
    ackListeners.get(first)?.(second);
  } else if (Number(first) === subscribed) {
    lastBackAt = performance.now();
    reportGapUnless(Number(third) === lastSeq);
    lastSeq = Number(third);
    if (lastBackAt >= subscribedUntil) {
      subscriptionEpoch += 1;
      listeners.forEach((each) => {
        each.onGap();
      });
    }
    subscribedUntil = Math.max(subscribedUntil, Number(second) + limits.hearingMs);
  }
}

/**
 * Registers the process before the beat returns, because a writer waits for all registered
 * processes.
 */
const heartbeatScript = `
local time = redis.call('time')
redis.call('zadd', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2], ARGV[1])
redis.call('pexpire', KEYS[1], 60000)
return redis.call('publish', ARGV[3], ARGV[4] .. ' ' .. (redis.call('get', KEYS[2]) or '0'))`;

async function sendHeartbeat(): Promise<void> {
  // The connection reports its own outage. This beat may run before the connection is ready.
  if (subscribed === 0 || redis().status !== 'ready') {
    return;
  }
  const text = `beat ${subscribed} ${performance.now()}`;
  try {
    const keys = [subscribersKey, changeCountKey];
    await redis().eval(
      heartbeatScript,
      keys.length,
      ...keys,
      processId,
      limits.hearingMs,
      getChannel(processId),
      text,
    );
    if (performance.now() - lastBackAt > deadConnectionMs && subscriber?.status === 'ready') {
      lastBackAt = performance.now();
      subscriber.disconnect(true);
    }
  } catch (error) {
    logRedisError('cache invalidations are not received', error);
  }
}
