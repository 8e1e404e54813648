import { setTimeout as wait } from 'node:timers/promises';
import { now } from '../shared/clock.js';
import { logOncePerMinute } from '../shared/logger.js';
import { withTimeout } from '../shared/concurrency.js';
import { samples } from './sample.model.js';

const patienceMs = 2_500;
/** Whoever asks meanwhile hears the same: anybody may ask, and each answer is a write. */
const shareMs = 1_000;

/** No hour of a subject: it goes with them, should nobody write it for 40 days. */
const _id = 'readiness';

let shared: Promise<string | null> | null = null;
let underWay: Promise<unknown> | null = null;

/**
 * Writes something small, which a majority must have: a MongoDB without a primary, or one that is read-only, answers what only reads
 * (decision 053).
 * @returns in words, why it did not take it; null: it did.
 */
export function findMongodbProblem(): Promise<string | null> {
  if (!shared) {
    const asked = tryToWrite();
    shared = asked;
    void asked.then(() => wait(shareMs, undefined, { ref: false })).then(() => (shared = null));
  }
  return shared;
}

async function tryToWrite(): Promise<string | null> {
  // One that hangs holds a connection: no second one beside it.
  underWay ??= write().finally(() => (underWay = null));
  try {
    await withTimeout(
      patienceMs,
      underWay,
      () => new Error(`MongoDB did not answer within ${patienceMs} ms`),
    );
    return null;
  } catch (error) {
    logOncePerMinute('mongodb takes no writes', error instanceof Error ? error.name : 'unknown', { error });
    return 'MongoDB takes no writes.';
  }
}

function write(): Promise<unknown> {
  return samples.updateOne(
    { _id },
    { $set: { from: now() } },
    { upsert: true, timeoutMS: patienceMs, writeConcern: { w: 'majority' } },
  );
}
