import { requireVersion } from '../shared/server-versions.js';
import { redis, listRedisServers } from './connection.js';
import { setTimeout as wait } from 'node:timers/promises';
import { env } from '../../config/env.js';
import { withTimeout } from '../shared/concurrency.js';
import { getErrorCode, logRedisError } from './connection-errors.js';

/** Returns one field of an INFO reply, or `unknown`. */
export function readInfoField(info: string, field: string): string {
  return new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? 'unknown';
}

/**
 * Checks the version of each Redis server that responds. An unavailable server does not block the
 * start, because purchases are accepted without Redis. Its version is checked when it reconnects.
 * @throws ServerTooOldError if a server is too old.
 */
export async function requireRedisVersion(): Promise<void> {
  for (const server of listRedisServers()) {
    const info = await server.info('server').catch(() => '');
    requireVersion('Redis', readInfoField(info, 'redis_version'));
  }
}

/**
 * Checks the version after each reconnect, because the new connection may lead to a different
 * server. The error is unhandled on purpose: it shuts down the process in order.
 */
export function recheckVersionOnReconnect(): void {
  redis().on('ready', () => {
    void requireRedisVersion();
  });
}

/** Reported if Redis does not take writes and gives no reason. */
export const noResponseMessage = 'Redis did not respond in time.';

const writeTimeoutMs = 1_000;
/**
 * Milliseconds for which a result is shared. Health checks are public, and each check is a write.
 */
const resultTtlMs = 500;
const keyTtlMs = 60_000;

let sharedCheck: Promise<string | null> | null = null;

/**
 * Tests a small write, because a full Redis or a replica still serves reads.
 * @returns The problem as text, or null if Redis takes writes.
 */
export function findRedisProblem(): Promise<string | null> {
  if (!sharedCheck) {
    const asked = tryToWrite();
    sharedCheck = asked;
    void asked.then(() => wait(resultTtlMs, undefined, { ref: false })).then(() => (sharedCheck = null));
  }
  return sharedCheck;
}

async function tryToWrite(): Promise<string | null> {
  const written = redis().set(`${env.QUEUE_PREFIX}:writable`, '1', 'PX', keyTtlMs);
  try {
    await withTimeout(
      writeTimeoutMs,
      written,
      () => new Error(`Redis did not respond within ${writeTimeoutMs} ms`),
    );
    return null;
  } catch (error) {
    logRedisError('redis accepts no writes', error);
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
      return 'Redis cannot write to its disk, and accepts no writes.';
    case 'NOPERM':
      return 'The user of REDIS_URL may not write.';
    default:
      return noResponseMessage;
  }
}
