/** How long something took, counted by classes: enough for a plot, and the same few numbers however much happens. */
import { lookUp } from '../shared/look-up.js';
import type { Slot } from './sample.model.js';

/** Upper ends in milliseconds; the last class has none. */
const ends = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 40_000];
const nameOf = (place: number): string => `ms${place}`;

/** The counter of a duration. */
export function bucketOf(durationMs: number): string {
  const place = ends.findIndex((end) => durationMs <= end);
  return nameOf(place < 0 ? ends.length : place);
}

/** The duration, in milliseconds, below which this share lies: exact to the class, and even within it. Null: nothing was counted. */
export function quantileOf(slot: Slot, share: number): number | null {
  const counts = Array.from({ length: ends.length + 1 }, (_, place) => lookUp(slot, nameOf(place)) ?? 0);
  const wanted = share * counts.reduce((sum, each) => sum + each, 0);
  if (wanted === 0) {
    return null;
  }
  let below = 0;
  for (const [place, count] of counts.entries()) {
    const [from = 0, end = from] = [ends[place - 1], ends[place] ?? ends.at(-1)];
    if (count > 0 && below + count >= wanted) {
      return from + ((wanted - below) / count) * (end - from);
    }
    below += count;
  }
  return null;
}
