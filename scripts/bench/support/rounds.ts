/**
 * Measures each of these in turn, forwards and backwards (A-B-B-A), so that what changes slowly on the machine strikes
 * all of them alike.
 * @returns what each round measured, by name.
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

/** The value that a share (0 to 1) of all are not above. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
