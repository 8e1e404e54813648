/** Counts calls with our rate limiter or with a minimal Redis script. */
import { Redis } from 'ioredis';
import { connectRedis } from '../../../src/redis/connection.js';
import { consumeRateLimit } from '../../../src/redis/rate-limit.js';
import { serveCalls } from '../support/calls.js';

export interface LimitWork {
  by: 'bare' | 'ours';
  key: string;
  max: number;
  calls: number;
  atOnce: number;
}

export interface LimitResult {
  accepted: number;
  seconds: number;
  /** CPU time of this process per call, in microseconds. */
  cpuUs: number;
}

const windowMs = 60_000;
const script = `
local count = redis.call('incr', KEYS[1])
if count == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end
return count`;

export async function runLimiter(): Promise<void> {
  await connectRedis();
  const redis: Redis & { bareCount?: (key: string, windowMs: number) => Promise<number> } = new Redis(
    process.env['REDIS_URL'] ?? '',
  );
  redis.defineCommand('bareCount', { numberOfKeys: 1, lua: script });
  const prefix = process.env['QUEUE_PREFIX'] ?? '';
  serveCalls(async ({ by, key, max, calls, atOnce }: LimitWork): Promise<LimitResult> => {
    const take = {
      ours: async () => (await consumeRateLimit(key, { max, windowMs })).accepted,
      bare: async () => ((await redis.bareCount?.(`${prefix}:${key}`, windowMs)) ?? Infinity) <= max,
    }[by];
    let left = calls;
    let accepted = 0;
    const loop = async () => {
      while (left > 0) {
        left -= 1;
        accepted += (await take()) ? 1 : 0;
      }
    };
    const cpu = process.cpuUsage();
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: atOnce }, loop));
    const { user, system } = process.cpuUsage(cpu);
    return { accepted, seconds: (performance.now() - startedMs) / 1_000, cpuUs: (user + system) / calls };
  });
}
