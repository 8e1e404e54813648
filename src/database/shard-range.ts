import { env } from '../../config/env.js';

/** Ranges of account ids, each on a shard of its own: one more than there are splits. */
export const shardRanges = env.MONGODB_SHARD_SPLITS.length + 1;

/**
 * The range that an account is in, by its place among MONGODB_SHARD_SPLITS. It only saves work (one shard to commit on
 * rather than several): processes with other splits, or an account that has moved, do nothing wrong.
 */
export function getShardRange(accountId: string): number {
  return env.MONGODB_SHARD_SPLITS.filter((split) => split <= accountId).length;
}
