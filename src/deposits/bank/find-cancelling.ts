/** More amounts of one sign are not tried: their sums are too many. */
const triedMax = 12;

/** True if some of the amounts may have the sum zero. Without proof of the opposite it is true. */
export function findCancelling(amounts: readonly bigint[]): boolean {
  const [came, went] = [amounts.filter((each) => each > 0n), amounts.filter((each) => each < 0n)];
  if (came.length > triedMax || went.length > triedMax) {
    return came.length > 0 && went.length > 0;
  }
  const sums = buildSums(came);
  return [...buildSums(went)].some((each) => each !== 0n && sums.has(-each));
}

/** Returns the sums of all combinations, including none of the amounts. */
function buildSums(amounts: readonly bigint[]): Set<bigint> {
  let sums = new Set([0n]);
  for (const amount of amounts) {
    sums = new Set([...sums, ...[...sums].map((each) => each + amount)]);
  }
  return sums;
}
