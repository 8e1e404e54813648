import { requireVersion } from '../shared/server-versions.js';
import { redis, redisServers } from './connection.js';
import { setTimeout as wait } from 'node:timers/promises';
import { env } from '../../config/env.js';
import { withTimeout } from '../shared/concurrency.js';
import { getErrorCode, logRedisError } from './connection-errors.js';

/** One field of what INFO says. */
export function infoField(info: string, field: string): string {
  return new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? 'unknown';
}

/**
 * Looks at each Redis that answers. One that is away stops nobody: purchases are accepted without it, and it is judged when
 * it comes back.
 * @throws ServerTooOldError
 */
export async function requireRedisVersion(): Promise<void> {
  for (const server of redisServers()) {
    const info = await server.info('server').catch(() => '');
    requireVersion('Redis', infoField(info, 'redis_version'));
  }
}

/**
 * From now on also whenever the connection comes back, maybe to another server. The error is left to escape everything, which
 * ends the process in order: commands of all its connections are under way by then, and only its end stops them all.
 */
export function recheckVersionOnReconnect(): void {
  redis().on('ready', () => {
    void requireRedisVersion();
  });
}

/** It neither takes writes nor says why. */
export const noAnswer = 'Redis does not answer in time.';

const patienceMs = 1_000;
/** Whoever asks meanwhile hears the same: anybody may ask, and each answer is a write. */
const shareMs = 500;
const keptMs = 60_000;

let shared: Promise<string | null> | null = null;

/** Writes something small, since a Redis that is full or a replica answers what only reads. @returns null if all is well. */
export function findRedisProblem(): Promise<string | null> {
  if (!shared) {
    const asked = tryToWrite();
    shared = asked;
    void asked.then(() => wait(shareMs, undefined, { ref: false })).then(() => (shared = null));
  }
  return shared;
}

async function tryToWrite(): Promise<string | null> {
  const written = redis().set(`${env.QUEUE_PREFIX}:writable`, '1', 'PX', keptMs);
  try {
    await withTimeout(patienceMs, written, () => new Error(`Redis did not answer within ${patienceMs} ms`));
    return null;
  } catch (error) {
    logRedisError('redis takes no writes', error);
    return describeErrorCode(getErrorCode(error));
  }
}

function describeErrorCode(code: string): string {
  switch (code) {
    case 'OOM':
      return 'Redis is full: it has reached its maxmemory.';
    case 'READONLY':
      return 'Redis is read-only: it is a replica.';
    case 'MISCONF':
      return 'Redis cannot write to its disk, and takes no writes.';
    case 'NOPERM':
      return 'The user of REDIS_URL may not write.';
    default:
      return noAnswer;
  }
}
