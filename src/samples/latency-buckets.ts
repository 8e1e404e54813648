/**
 * Durations as counters of buckets. They suffice for a plot and need a fixed number of counters.
 */
import { lookUp } from '../shared/collections.js';
import type { Slot } from './sample.model.js';

/** Upper bounds of the buckets in ms, up to one day. The last bucket has none. */
const bucketEndsMs = [
  50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 15_000, 20_000,
  30_000, 45_000, 60_000, 90_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 86_400_000,
];
const formatBucketName = (end: number): string => `to${end}`;
const overflowBucket = 'longer';
const bucketNames = [...bucketEndsMs.map(formatBucketName), overflowBucket];

/** Returns the counter name of a duration. */
export function getBucketName(durationMs: number): string {
  const end = bucketEndsMs.find((each) => durationMs <= each);
  return end === undefined ? overflowBucket : formatBucketName(end);
}

/** Counts the durations of a slot. */
export function countSlot(slot: Slot): number {
  return bucketNames.reduce((sum, name) => sum + (lookUp(slot, name) ?? 0), 0);
}

/**
 * Returns the quantile `share` in milliseconds. The bucket is exact, and the value within the
 * bucket is interpolated. Null if nothing was counted.
 */
export function computeQuantile(slot: Slot, share: number): number | null {
  const wanted = share * countSlot(slot);
  if (wanted === 0) {
    return null;
  }
  let below = 0;
  for (const [place, name] of bucketNames.entries()) {
    const count = lookUp(slot, name) ?? 0;
    const [from = 0, end = from] = [bucketEndsMs[place - 1], bucketEndsMs[place] ?? bucketEndsMs.at(-1)];
    if (count > 0 && below + count >= wanted) {
      return from + ((wanted - below) / count) * (end - from);
    }
    below += count;
  }
  return null;
}
