import { setTimeout as wait } from 'node:timers/promises';
import { now } from '../shared/clock.js';
import { logOncePerMinute } from '../shared/logger.js';
import { withTimeout } from '../shared/concurrency.js';
import { samples } from './sample.model.js';

const writeTimeoutMs = 2_500;
/**
 * Calls within this time share one result. Any client can trigger a check, and each check costs a
 * write.
 */
const resultTtlMs = 1_000;

/**
 * Id of the probe document. The TTL index of the samples removes it after 40 days without a write.
 */
const _id = 'readiness';

let sharedCheck: Promise<string | null> | null = null;
let underWay: Promise<unknown> | null = null;

/**
 * Checks that MongoDB accepts a majority write. A MongoDB without a primary, or a read-only one,
 * still serves reads (decision 053).
 * @returns The problem. Null if MongoDB accepted the write.
 */
export function findMongodbProblem(): Promise<string | null> {
  if (!sharedCheck) {
    const asked = tryToWrite();
    sharedCheck = asked;
    void asked.then(() => wait(resultTtlMs, undefined, { ref: false })).then(() => (sharedCheck = null));
  }
  return sharedCheck;
}

async function tryToWrite(): Promise<string | null> {
  // A hanging write holds a connection, so no second one is started.
  underWay ??= write().finally(() => (underWay = null));
  try {
    await withTimeout(
      writeTimeoutMs,
      underWay,
      () => new Error(`MongoDB did not respond within ${writeTimeoutMs} ms`),
    );
    return null;
  } catch (error) {
    logOncePerMinute('MongoDB does not accept writes', error instanceof Error ? error.name : 'unknown', {
      error,
    });
    return 'MongoDB does not accept writes.';
  }
}

function write(): Promise<unknown> {
  return samples.updateOne(
    { _id },
    { $set: { from: now() } },
    { upsert: true, timeoutMS: writeTimeoutMs, writeConcern: { w: 'majority' } },
  );
}
