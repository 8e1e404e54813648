/** Shared by the causes of alarms: a running copy of the service, its Redis and its buyers. */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { Collection, Document } from 'mongodb';
import { eventually } from '../../support/eventually.js';
import type { ApiClient } from '../../support/api-client.js';
import type { PrivateRedis } from '../../support/private-redis.js';
import type { Stack } from '../../support/stack.js';
import type { RunningProgram } from '../../support/start-program.js';

export interface Cause {
  /** Name of the alarm. */
  alarm: string;
  /**
   * Subject of the alarm. On a busy machine other subjects may briefly have the same alarm; those
   * wait their full time.
   */
  about?: string;
  how: string;
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
  /** Restores the cause if the schedule would repair it. */
  restore?(): Promise<unknown>;
  /** Starts after all others, because it blocks their start or their announcement. */
  beginsLast?: true;
  /** Ends before all others, because it blocks their end. The last in the list ends first. */
  endsFirst?: true;
  /** The process whose readiness is printed. Default: the follow-up process. */
  of?: () => RunningProgram | undefined;
}

/** Causes of one topic, and a function that cleans up. */
export interface Causes {
  causes: Cause[];
  stop(): Promise<unknown>;
}

export interface Scene {
  stack: Stack;
  redis: PrivateRedis;
  buyer: ApiClient;
  /** API client of the second buyer, whose webhook URL tests change. */
  other: ApiClient;
  rows: (name: string) => Collection<Document & { _id: string }>;
  idOf: (username: string) => Promise<string>;
  onQueue: <T>(name: string, work: (queue: Queue) => Promise<T>) => Promise<T>;
  /** Runs this scheduled job now. */
  askClock: (job: string) => Promise<unknown>;
  withRedis: <T>(work: (client: Redis) => Promise<T>) => Promise<T>;
  /** Waits for the first heartbeat of a process of this type. */
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
      eventually('the process has a heartbeat', () =>
        withRedis(async (client) =>
          (await client.zrange(`${prefix}:processes`, 0, '-1')).some((each) => each.startsWith(`${type}:`)),
        ),
      ),
  };
}
