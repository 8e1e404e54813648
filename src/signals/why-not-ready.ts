import { pingMongo } from '../database/mongo.js';
import { requireUniqueIndexes } from '../database/unique-indexes.js';
import { whyRedisRefuses } from '../redis/why-redis-refuses.js';
import { DependencyError } from '../shared/errors.js';

export interface Dependencies {
  /** It answers. */
  mongodb: boolean;
  /** It takes writes. */
  redis: boolean;
  /** In words, what keeps a process from working; empty if nothing does. */
  reasons: string[];
}

/** What every process needs: MongoDB with its unique indexes, and a Redis that takes writes. Asked anew with each call. */
export async function lookAtDependencies(): Promise<Dependencies> {
  const [mongodb, refusal] = await Promise.all([answers(pingMongo()), whyRedisRefuses()]);
  const missing = mongodb ? await missingIndexesInWords() : null;
  return {
    mongodb,
    redis: refusal === null,
    reasons: [mongodb ? null : 'MongoDB does not answer.', missing, refusal].filter((each) => each !== null),
  };
}

async function missingIndexesInWords(): Promise<string | null> {
  try {
    await requireUniqueIndexes();
    return null;
  } catch (error) {
    return error instanceof DependencyError && error.cause instanceof Error
      ? error.cause.message
      : 'The indexes could not be looked at.';
  }
}

async function answers(ping: Promise<unknown>): Promise<boolean> {
  return ping.then(
    () => true,
    () => false,
  );
}
