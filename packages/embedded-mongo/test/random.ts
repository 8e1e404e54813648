/** A reproducible source of random values: the same seed produces the same values. */
export interface Random {
  /** Returns an integer from `min` to `max`, both inclusive. */
  readonly int: (min: number, max: number) => number;
  readonly pick: <T>(values: readonly T[]) => T;
}

/** Creates a random source with the algorithm Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    int,
    pick: (values) => {
      const [first] = values;
      if (first === undefined) {
        throw new Error('nothing to pick from');
      }
      return values[int(0, values.length - 1)] ?? first;
    },
  };
}
