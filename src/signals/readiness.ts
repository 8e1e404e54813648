import { requireUniqueIndexes } from '../database/indexes.js';
import { findClockProblem } from '../redis/fleet-clock.js';
import { findRedisProblem } from '../redis/server-health.js';
import { findMongodbProblem } from '../samples/check-mongodb-writes.js';
import { DependencyError } from '../shared/errors.js';

export interface Dependencies {
  /** True if MongoDB takes writes. */
  mongodb: boolean;
  /** True if Redis takes writes. */
  redis: boolean;
  /** Why the process cannot work, in words; empty if it can. */
  reasons: string[];
}

/**
 * Checks that MongoDB has its unique indexes, that MongoDB and Redis take writes, and that the
 * fleet's clock is known. Answers are shared for up to a second.
 */
export async function checkDependencies(): Promise<Dependencies> {
  const [mongodb, redis] = await Promise.all([findMongodbProblem(), findRedisProblem()]);
  const missing = mongodb === null ? await missingIndexes() : [];
  return {
    mongodb: mongodb === null,
    redis: redis === null,
    reasons: [mongodb, ...missing, redis ?? findClockProblem()].filter((each) => each !== null),
  };
}

/** Lists the missing unique indexes, in words. It asks MongoDB until all were seen once. */
export async function missingIndexes(): Promise<string[]> {
  try {
    await requireUniqueIndexes();
    return [];
  } catch (error) {
    return [
      error instanceof DependencyError && error.cause instanceof Error
        ? error.cause.message
        : 'The unique indexes could not be checked.',
    ];
  }
}
