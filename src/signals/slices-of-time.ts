/** What a slice lasts, in ms. */
const sliceMs = 500;

/**
 * A share of the time in slices of half a second, each somewhere in its own period by chance: a moment that nothing else
 * decides about is in one with this probability. At 1 it is always, at 0 never.
 * @returns whether a moment, in ms of one clock that only goes on, is in a slice.
 */
export function createTimeSlices(
  share: number,
  random: () => number = Math.random,
): (atMs: number) => boolean {
  if (share <= 0 || share >= 1) {
    return () => share >= 1;
  }
  const periodMs = sliceMs / share;
  let period = -1;
  let fromMs = 0;
  return (atMs) => {
    const now = Math.floor(atMs / periodMs);
    if (now !== period) {
      period = now;
      fromMs = now * periodMs + random() * (periodMs - sliceMs);
    }
    return atMs >= fromMs && atMs < fromMs + sliceMs;
  };
}
