import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { isMongoUnavailable } from '../database/mongo.js';
import { getDriverRefusal } from '../database/driver-compatibility.js';
import { findRedisProblem } from '../redis/server-health.js';
import { redis as redisConnection } from '../redis/connection.js';
import { diagnoseAlarms } from './diagnose-alarms.js';
import { diagnoseConfiguration, diagnoseProxy } from './diagnose-configuration.js';
import { diagnoseMongo, diagnoseRedis, noWritesAdvice, upgradeMongodbAdvice } from './diagnose-databases.js';
import { diagnoseProcesses } from './diagnose-processes.js';
import { diagnoseSelfChecks } from './diagnose-self-checks.js';
import { diagnoseAttention, diagnoseBacklog, diagnoseQueues } from './diagnose-work.js';
import { fail, type Diagnosis } from './diagnosis.js';

const mongo: Part = {
  name: 'MongoDB',
  isConnected: () => mongoose.connection.readyState === mongoose.ConnectionStates.connected,
  advice: 'Start it, or correct MONGODB_URI. Every call returns 503 until then.',
};

/**
 * Checks the whole system and advises what to do. It covers databases, indexes, clocks,
 * configuration, queues, late work, and decisions that wait for a person. It changes nothing. If a
 * part cannot be checked, this counts as a failed check, and the other checks continue.
 */
export async function diagnose(): Promise<Diagnosis[]> {
  const redis: Part = {
    name: 'Redis',
    isConnected: () => redisConnection().status === 'ready',
    advice: mongo.isConnected()
      ? 'Start it, or correct REDIS_URL. Purchases are accepted meanwhile, and wait for it.'
      : 'Start it, or correct REDIS_URL.',
  };
  if (redis.isConnected() && (await findRedisProblem()) !== null) {
    await waitForRedis();
  }
  const parts = await Promise.all([
    diagnosePart(mongo, diagnoseMongo),
    diagnosePart(redis, diagnoseRedis),
    diagnosePart(mongo, diagnoseConfiguration),
    diagnosePart(redis, diagnoseProcesses),
    // Listing the queues of providers needs MongoDB.
    mongo.isConnected() ? diagnosePart(redis, diagnoseQueues) : [],
    diagnosePart(mongo, diagnoseBacklog),
    diagnosePart(mongo, diagnoseAttention),
    diagnosePart(mongo, diagnoseSelfChecks),
    diagnosePart(mongo, diagnoseAlarms),
    diagnoseProxy(),
  ]);
  return removeDuplicates(parts.flat());
}

/**
 * Waits until the Redis connection responds again. When a read-only Redis refuses a write, the
 * connection looks for a master, which aborts commands in flight. Its status stays `ready`
 * meanwhile.
 */
async function waitForRedis(): Promise<void> {
  const answers = async () =>
    (await redisConnection()
      .ping()
      .catch(() => null)) !== null;
  for (let n = 0; n < 20 && !(await answers()); n++) {
    await setTimeout(100);
  }
}

interface Part {
  name: string;
  isConnected: () => boolean;
  advice: string;
}

async function diagnosePart(part: Part, run: () => Promise<Diagnosis[]>): Promise<Diagnosis[]> {
  if (!part.isConnected()) {
    const tooOld = part === mongo ? getDriverRefusal() : null;
    if (tooOld !== null) {
      return [fail(part.name, tooOld, upgradeMongodbAdvice)];
    }
    return [fail(part.name, 'does not respond', part.advice)];
  }
  try {
    return await run();
  } catch (error) {
    if (isMongoUnavailable(error) && part.name !== 'MongoDB') {
      return [fail('MongoDB', 'does not respond', mongo.advice)];
    }
    const refusal = part.name === 'Redis' ? await findRedisProblem() : null;
    if (refusal !== null) {
      return [fail('Redis writes', refusal, noWritesAdvice)];
    }
    const why = error instanceof Error ? error.message : String(error);
    return [fail(part.name, `a check failed: ${why}`, part.advice)];
  }
}

/**
 * Removes duplicate results, because an unavailable database fails several parts in the same way.
 */
function removeDuplicates(found: Diagnosis[]): Diagnosis[] {
  const seen = new Set<string>();
  return found.filter(({ name, detail }) => {
    const key = `${name} ${detail}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
