import { setTimeout as wait } from 'node:timers/promises';
import { env } from '../../config/env.js';
import { withTimeout } from '../shared/within.js';
import { redis } from './connection.js';
import { getErrorCode, logRedisError } from './say-error.js';

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
