/**
 * The cost of work: CPU time of all processes involved, and the command counters of both databases.
 */
import fs from 'node:fs';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import type { RunningProcess } from './start-process.js';

export interface Cost {
  seconds: number;
  /** CPU microseconds by process. Databases on other machines are not included. */
  cpuUs: Record<string, number>;
  /** Number of commands by name. */
  mongodb: Record<string, number>;
  redis: Record<string, number>;
}

export interface Meter {
  /**
   * Starts a measurement.
   * @returns A function that returns the cost since the start.
   */
  start(processes: RunningProcess[]): Promise<() => Promise<Cost>>;
  close(): Promise<void>;
}

/** Microseconds per tick. `getconf CLK_TCK` is 100 on every Linux that Node supports. */
const usPerTick = 10_000;
/** Commands that clients and the meter send by themselves. */
const ignoredMongodbCommands = new Set([
  'hello',
  'isMaster',
  'ismaster',
  'serverStatus',
  'endSessions',
  'ping',
]);
const ignoredRedisCommands = new Set(['info', 'client|setinfo', 'hello', 'ping']);

export async function createMeter(mongodbUri: string, redisUrl: string): Promise<Meter> {
  const client = await new MongoClient(mongodbUri).connect();
  const redis = new Redis(redisUrl);
  const databases = await databaseProcesses(client, redis, { mongodbUri, redisUrl });
  const read = async (processes: { name: string; pid: number }[]): Promise<Cost> => ({
    seconds: performance.now() / 1_000,
    cpuUs: sumByName(processes.map(({ name, pid }) => [name, cpuUsOf(pid)])),
    mongodb: await mongodbCommands(client),
    redis: await redisCommands(redis),
  });
  return {
    async start(services) {
      const processes = [...services, ...databases];
      const before = await read(processes);
      return async () => {
        const after = await read(processes);
        return {
          seconds: after.seconds - before.seconds,
          cpuUs: subtractCounts(after.cpuUs, before.cpuUs),
          mongodb: subtractCounts(after.mongodb, before.mongodb),
          redis: subtractCounts(after.redis, before.redis),
        };
      };
    },
    async close() {
      redis.disconnect();
      await client.close();
    },
  };
}

/** Returns the cost per operation, for `count` operations. */
export function perOperation(cost: Cost, count: number): Cost {
  const share = (all: Record<string, number>) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value / count]));
  return {
    seconds: cost.seconds,
    cpuUs: share(cost.cpuUs),
    mongodb: share(cost.mongodb),
    redis: share(cost.redis),
  };
}

/** Returns user and system time of a process including all its threads, in microseconds. */
export function cpuUsOf(pid: number): number {
  // The program name in brackets may contain any character.
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * usPerTick;
}

async function databaseProcesses(
  client: MongoClient,
  redis: Redis,
  { mongodbUri, redisUrl }: { mongodbUri: string; redisUrl: string },
): Promise<{ name: string; pid: number }[]> {
  const { pid } = (await client.db('admin').command({ serverStatus: 1 })) as { pid: number };
  const redisPid = /^process_id:(\d+)/m.exec(await redis.info('server'))?.[1];
  return [
    ...(isLocal(mongodbUri) ? [{ name: 'mongodb', pid }] : []),
    ...(isLocal(redisUrl) ? [{ name: 'redis', pid: Number(redisPid) }] : []),
  ].filter((each) => fs.existsSync(`/proc/${each.pid}/stat`));
}

function isLocal(url: string): boolean {
  return /[/@](127\.0\.0\.1|localhost)[:/]/.test(url);
}

async function mongodbCommands(client: MongoClient): Promise<Record<string, number>> {
  const { metrics } = (await client.db('admin').command({ serverStatus: 1 })) as {
    metrics: { commands: Record<string, { total?: number }> };
  };
  const counted = Object.entries(metrics.commands).map(([name, { total }]) => [name, total ?? 0] as const);
  return Object.fromEntries(counted.filter(([name]) => !ignoredMongodbCommands.has(name)));
}

/** Returns the number of commands by name, including commands from scripts. */
async function redisCommands(redis: Redis): Promise<Record<string, number>> {
  const lines = (await redis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
  const counted = [...lines].map(([, name = '', calls]) => [name, Number(calls)] as const);
  return Object.fromEntries(counted.filter(([name]) => !ignoredRedisCommands.has(name)));
}

function sumByName(all: (readonly [string, number])[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, value] of all) {
    sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

function subtractCounts(
  after: Record<string, number>,
  before: Record<string, number>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).flatMap(([name, value]) => {
      const more = value - (before[name] ?? 0);
      return more === 0 ? [] : [[name, more] as const];
    }),
  );
}
