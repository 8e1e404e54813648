import { requireUniqueIndexes } from '../database/indexes.js';
import { findClockProblem } from '../redis/fleet-clock.js';
import { findRedisProblem } from '../redis/server-health.js';
import { findMongodbProblem } from '../samples/check-mongodb-writes.js';
import { DependencyError } from '../shared/errors.js';

export interface Dependencies {
  /** True if MongoDB accepts writes. */
  mongodb: boolean;
  /** True if Redis accepts writes. */
  redis: boolean;
  /** Why the process cannot work, in words. Empty if it can. */
  reasons: string[];
}

/**
 * Checks that MongoDB has its unique indexes, that MongoDB and Redis accept writes, and that the
 * shared clock is known. Results are reused for up to a second.
 */
export async function checkDependencies(): Promise<Dependencies> {
  const [mongodb, redis] = await Promise.all([findMongodbProblem(), findRedisProblem()]);
  const missing = mongodb === null ? await findMissingIndexes() : [];
  return {
    mongodb: mongodb === null,
    redis: redis === null,
    reasons: [mongodb, ...missing, redis ?? findClockProblem()].filter((each) => each !== null),
  };
}

/**
 * Lists the missing unique indexes, in words. MongoDB is queried until every index was found once.
 */
export async function findMissingIndexes(): Promise<string[]> {
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
