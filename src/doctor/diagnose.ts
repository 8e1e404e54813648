import mongoose from 'mongoose';
import { redis as redisConnection } from '../redis/connection.js';
import { diagnoseConfiguration } from './diagnose-configuration.js';
import { diagnoseMongo, diagnoseRedis } from './diagnose-databases.js';
import { diagnoseProcesses } from './diagnose-processes.js';
import { diagnoseSelfChecks } from './diagnose-self-checks.js';
import { diagnoseProxy } from './diagnose-proxy.js';
import { diagnoseAttention, diagnoseBacklog, diagnoseQueues } from './diagnose-work.js';
import { fail, type Diagnosis } from './diagnosis.js';

/**
 * Checks the whole system and says what to do: databases, indexes, clocks, configuration, queues, late work,
 * and what waits for a person. It changes nothing. A part that cannot be checked is a failed check, and the
 * others go on.
 */
export async function diagnose(): Promise<Diagnosis[]> {
  const mongo: Part = {
    name: 'MongoDB',
    isConnected: () => mongoose.connection.readyState === mongoose.ConnectionStates.connected,
    advice: 'Start it, or correct MONGODB_URI. Every call answers 503 until then.',
  };
  const redis: Part = {
    name: 'Redis',
    isConnected: () => redisConnection().status === 'ready',
    advice: 'Start it, or correct REDIS_URL. Purchases are accepted meanwhile, and wait for it.',
  };
  const parts = await Promise.all([
    check(mongo, diagnoseMongo),
    check(redis, diagnoseRedis),
    check(mongo, diagnoseConfiguration),
    check(redis, diagnoseProcesses),
    check(redis, diagnoseQueues),
    check(mongo, diagnoseBacklog),
    check(mongo, diagnoseAttention),
    check(mongo, diagnoseSelfChecks),
    diagnoseProxy(),
  ]);
  return withoutRepeats(parts.flat());
}

interface Part {
  name: string;
  isConnected: () => boolean;
  advice: string;
}

async function check(part: Part, run: () => Promise<Diagnosis[]>): Promise<Diagnosis[]> {
  if (!part.isConnected()) {
    return [fail(part.name, 'does not answer', part.advice)];
  }
  try {
    return await run();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [fail(part.name, `a check failed: ${why}`, part.advice)];
  }
}

/** A database that is away fails several parts in the same words. */
function withoutRepeats(found: Diagnosis[]): Diagnosis[] {
  const seen = new Set<string>();
  return found.filter(({ name, detail }) => {
    const key = `${name} ${detail}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
