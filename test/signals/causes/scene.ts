/** What causes of alarms share: a running copy of the service, its Redis, and who buys there. */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { Collection, Document } from 'mongodb';
import { eventually } from '../../support/eventually.js';
import type { ApiClient } from '../../support/api-client.js';
import type { PrivateRedis } from '../../support/private-redis.js';
import type { Stack } from '../../support/stack.js';
import type { RunningProgram } from '../../support/start-program.js';

export interface Cause {
  /** The alarm's name. */
  alarm: string;
  /** What it is about, where others of the same name may be so for a moment on a busy machine: those wait their time, as in life. */
  about?: string;
  how: string;
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
  /** What the clock would put right meanwhile is made so again. */
  hold?(): Promise<unknown>;
  /** Others cannot begin, or be told, after it. */
  beginsLast?: true;
  /** Others cannot end before it; of these the last in the list ends first. */
  endsFirst?: true;
  /** Whose readiness is shown; the follow-up process without this. */
  of?: () => RunningProgram | undefined;
}

/** Several causes of one theme, and how to let go of what still stands. */
export interface Causes {
  causes: Cause[];
  stop(): Promise<unknown>;
}

export interface Scene {
  stack: Stack;
  redis: PrivateRedis;
  buyer: ApiClient;
  /** Of the second buyer, whose webhooks go where a test says. */
  other: ApiClient;
  rows: (name: string) => Collection<Document & { _id: string }>;
  idOf: (username: string) => Promise<string>;
  onQueue: <T>(name: string, work: (queue: Queue) => Promise<T>) => Promise<T>;
  /** Lets the clock do this now. */
  askClock: (job: string) => Promise<unknown>;
  withRedis: <T>(work: (client: Redis) => Promise<T>) => Promise<T>;
  /** Until a process of this type has said that it lives. */
  isHeard: (type: string) => Promise<unknown>;
}

export const hourMs = 3_600_000;
export const ago = (ms: number) => new Date(Date.now() - ms);

export function sceneOf(parts: Pick<Scene, 'stack' | 'redis' | 'buyer' | 'other'>): Scene {
  const { stack, redis } = parts;
  const prefix = stack.env['QUEUE_PREFIX'] ?? '';
  const rows: Scene['rows'] = (name) => stack.db.collection(name);
  async function onQueue<T>(name: string, work: (queue: Queue) => Promise<T>): Promise<T> {
    const { hostname, port } = new URL(redis.url);
    const queue = new Queue(name, { connection: { host: hostname, port: Number(port) }, prefix });
    try {
      return await work(queue);
    } finally {
      await queue.close();
    }
  }
  async function withRedis<T>(work: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(redis.url);
    try {
      return await work(client);
    } finally {
      client.disconnect();
    }
  }
  return {
    ...parts,
    rows,
    onQueue,
    withRedis,
    idOf: async (username) => String((await rows('accounts').findOne({ username }))?._id),
    askClock: (job) => onQueue('schedules', (queue) => queue.add(job, { v: 1 })),
    isHeard: (type) =>
      eventually('it to be heard', () =>
        withRedis(async (client) =>
          (await client.zrange(`${prefix}:processes`, 0, '-1')).some((each) => each.startsWith(`${type}:`)),
        ),
      ),
  };
}
