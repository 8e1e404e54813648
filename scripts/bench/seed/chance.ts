import { getFirstIdAt } from '../../../src/shared/ids.js';

/** Random numbers with a fixed seed, the same in every run (mulberry32). */
export interface Chance {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** Returns an integer from 0 (inclusive) to `count` (exclusive). */
  below(count: number): number;
  of<T>(some: readonly T[]): T;
  /** Returns an id with the timestamp `ms`. */
  idAt(ms: number): string;
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (count: number) => Math.floor(next() * count);
  const hex = (digits: number) =>
    below(16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  let made = 0;
  return {
    next,
    below,
    of: (some) => some[below(some.length)] as never,
    // A counter keeps ids of the same millisecond distinct.
    idAt: (ms) => `${getFirstIdAt(ms)}7${hex(3)}8${(made += 1).toString(16).padStart(9, '0')}${hex(6)}`,
  };
}
