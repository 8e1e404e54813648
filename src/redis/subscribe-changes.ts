/**
 * How a process hears of changes to what it keeps in memory (decision 051). It *hears* while its own beat, published
 * through Redis, comes back over the connection that changes come over: for `limits.hearingMs` after each. Redis keeps
 * the order of a connection, so a beat that came back shows that every change published before it was heard as well.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { env } from '../../config/env.js';
import { limits } from '../../config/limits.js';
import { repeat } from '../shared/repeat.js';
import { beforeDisconnect, buildSiblingKey, newSubscriberConnection, redis } from './connection.js';
import { processId } from './process-id.js';
import { logRedisError } from './connection-errors.js';

/** What is said about a change: `begin` before the write, `end` when it holds, `unsure` when nobody knows. */
export interface Change {
  id: string;
  /** The process that makes it. */
  by: string;
  phase: 'begin' | 'end' | 'unsure';
  collections: string[];
  /** Ids of the accounts, codes of the products; null: all. */
  subjects: string[] | null;
  /** Counts what was told; added by Redis as it is published. Not in what processes of an earlier release tell. */
  seq?: number;
}

export interface Listener {
  onChange(change: Change): void;
  /** Changes may have been missed. */
  onGap(): void;
}

export const changesChannel = `${env.QUEUE_PREFIX}:changes`;
/** Who hears, and until when by the clock of Redis. */
export const hearersKey = `${env.QUEUE_PREFIX}:hearers`;
/** How many changes were told. In the script with `hearersKey`, so on the same node. */
export const toldKey = buildSiblingKey(hearersKey, 'told');

const beatEveryMs = 300;
/** Beats that go out and do not come back for so long: the connection is dead, whatever the socket says. */
const deafMs = 3_000;

const listeners = new Set<Listener>();
const ackListeners = new Map<string, (hearer: string) => void>();
let subscriber: Redis | null = null;
let connections = 0;
let subscribed = 0;
let lastBackAt = 0;
/** By the clock that nobody can set. */
let hearsUntil = 0;
let hearing = 0;
/** The number of the last change that was heard, with all before it. */
let lastSeq = 0;

/** Not 0 while this process hears every change. Another number than before: it has been deaf in between. */
export function getSubscriptionEpoch(): number {
  return performance.now() < hearsUntil ? hearing : 0;
}

export function addListener(listener: Listener): void {
  listeners.add(listener);
}

export function notifyListeners(change: Change): void {
  listeners.forEach((each) => {
    each.onChange(change);
  });
}

/** Calls back for each process that has heard of a change. @returns what ends it. */
export function onAcks(changeId: string, heard: (hearer: string) => void): () => void {
  ackListeners.set(changeId, heard);
  return () => ackListeners.delete(changeId);
}

/**
 * Starts to hear, for processes that keep things in memory for long. Resolves when this process hears, and after
 * `limits.hearingMs` in any case. Ends with `disconnectRedis`.
 */
export async function subscribeToChanges(): Promise<void> {
  subscribe([changesChannel, getChannel(processId)]);
  const beating = repeat({ name: 'hear changes', everyMs: beatEveryMs, run: beat });
  beforeDisconnect(async () => {
    await beating.stop();
    hearsUntil = 0;
    await redis().zrem(hearersKey, processId);
  });
  await waitUntil(() => getSubscriptionEpoch() !== 0, limits.hearingMs);
}

/** For processes that only make changes: lets them hear who has heard of theirs. */
export function subscribeToAcks(): void {
  if (!subscriber) {
    subscribe([getChannel(processId)]);
  }
}

/** Resolves when acknowledgements can be heard, and after `timeoutMs` in any case. */
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
  const connection = newSubscriberConnection();
  subscriber = connection;
  const subscribeNow = () => {
    connections += 1;
    const mine = connections;
    connection.subscribe(...channels).then(
      () => {
        subscribed = mine;
        lastBackAt = performance.now();
        void beat();
      },
      (error: unknown) => {
        logRedisError('changes are not heard', error);
        setTimeout(() => {
          // A Cluster is ready before it has chosen a node for this; any other connection comes back by itself.
          if (connection.status === 'ready' && connections === mine) {
            subscribeNow();
          }
        }, beatEveryMs).unref();
      },
    );
  };
  connection.on('ready', subscribeNow);
  connection.on('close', () => {
    subscribed = 0;
    hearsUntil = 0;
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
    // Who made the change waits for this, but not for long.
    redis()
      .publish(getChannel(change.by), `ack ${change.id} ${processId}`)
      .catch(() => undefined);
  }
}

/** Nodes of a Cluster pass on what is published to one of them, unless their connection breaks just then. */
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
    if (lastBackAt >= hearsUntil) {
      hearing += 1;
      listeners.forEach((each) => {
        each.onGap();
      });
    }
    hearsUntil = Math.max(hearsUntil, Number(second) + limits.hearingMs);
  }
}

/** Registered before it counts: whoever changes something waits for all that are registered. */
const beatScript = `
local time = redis.call('time')
redis.call('zadd', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2], ARGV[1])
redis.call('pexpire', KEYS[1], 60000)
return redis.call('publish', ARGV[3], ARGV[4] .. ' ' .. (redis.call('get', KEYS[2]) or '0'))`;

async function beat(): Promise<void> {
  // Of a connection that does not stand it is said there; this one may just have been faster.
  if (subscribed === 0 || redis().status !== 'ready') {
    return;
  }
  const text = `beat ${subscribed} ${performance.now()}`;
  try {
    const keys = [hearersKey, toldKey];
    await redis().eval(
      beatScript,
      keys.length,
      ...keys,
      processId,
      limits.hearingMs,
      getChannel(processId),
      text,
    );
    if (performance.now() - lastBackAt > deafMs && subscriber?.status === 'ready') {
      lastBackAt = performance.now();
      subscriber.disconnect(true);
    }
  } catch (error) {
    logRedisError('changes are not heard', error);
  }
}
