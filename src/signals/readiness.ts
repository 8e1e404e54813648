import { requireUniqueIndexes } from '../database/indexes.js';
import { findClockProblem } from '../redis/fleet-clock.js';
import { findRedisProblem } from '../redis/server-health.js';
import { findMongodbProblem } from '../samples/check-mongodb-writes.js';
import { DependencyError } from '../shared/errors.js';

export interface Dependencies {
  /** It takes writes. */
  mongodb: boolean;
  /** It takes writes. */
  redis: boolean;
  /** In words, what keeps a process from working; empty if nothing does. */
  reasons: string[];
}

/** What every process needs: MongoDB with its unique indexes, and Redis, both of which take writes, and the fleet's time. Asked anew each second. */
export async function checkDependencies(): Promise<Dependencies> {
  const [mongodb, redis] = await Promise.all([findMongodbProblem(), findRedisProblem()]);
  const missing = mongodb === null ? await missingIndexes() : [];
  return {
    mongodb: mongodb === null,
    redis: redis === null,
    reasons: [mongodb, ...missing, redis ?? findClockProblem()].filter((each) => each !== null),
  };
}

/** In words, the unique indexes that are not there; asked of MongoDB until they were seen once. */
export async function missingIndexes(): Promise<string[]> {
  try {
    await requireUniqueIndexes();
    return [];
  } catch (error) {
    return [
      error instanceof DependencyError && error.cause instanceof Error
        ? error.cause.message
        : 'The indexes could not be looked at.',
    ];
  }
}
