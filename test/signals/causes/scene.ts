/** Helpers for the causes of alarms: a running copy of the service, its Redis and its buyers. */
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
   * Subject of the alarm. On a busy machine, other subjects may briefly cause the same alarm. Their
   * waiting time is not skipped.
   */
  about?: string;
  how: string;
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
  /** Creates the cause again after the schedule has repaired it. */
  restore?(): Promise<unknown>;
  /** True to start this cause after all others, because it prevents their start or announcement. */
  beginsLast?: true;
  /**
   * True to end this cause before all others, because it prevents their end. Of several such
   * causes, the last in the list ends first.
   */
  endsFirst?: true;
  /** The process whose readiness the test prints. Default: the follow-up process. */
  of?: () => RunningProgram | undefined;
}

/** The causes of one topic, with a function that cleans up after them. */
export interface Causes {
  causes: Cause[];
  stop(): Promise<unknown>;
}

export interface Scene {
  stack: Stack;
  redis: PrivateRedis;
  buyer: ApiClient;
  /** A client for the second buyer. Tests change the webhook URL of this buyer. */
  other: ApiClient;
  rows: (name: string) => Collection<Document & { _id: string }>;
  idOf: (username: string) => Promise<string>;
  onQueue: <T>(name: string, work: (queue: Queue) => Promise<T>) => Promise<T>;
  /** Runs this scheduled job immediately. */
  askClock: (job: string) => Promise<unknown>;
  withRedis: <T>(work: (client: Redis) => Promise<T>) => Promise<T>;
  /** Waits for the first heartbeat from a process of this type. */
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
