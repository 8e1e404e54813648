/**
 * Measures all names one after the other, forwards and then backwards (A-B-B-A), so that slow
 * drifts of the machine affect all names equally.
 * @returns The measurements of all rounds, by name.
 */
export async function inTurns<Name extends string, T>(
  names: readonly Name[],
  rounds: number,
  measure: (name: Name) => Promise<T>,
): Promise<Record<Name, T[]>> {
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, T[]>;
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [...names, ...names.toReversed()] : [...names.toReversed(), ...names];
    for (const name of order) {
      measured[name].push(await measure(name));
    }
  }
  return measured;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? NaN) + (sorted[sorted.length >> 1] ?? NaN)) / 2;
}

/** Returns the quantile: the value that a share (0 to 1) of all values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
