import { createRandom } from '../../scripts/support/random.js';

/** A random generator that can be played again: SEED=<n> gives the same numbers. The seed is in the test's name. */
export function seededRandom(): (() => number) & { seed: string } {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  return Object.assign(createRandom(seed), { seed: `SEED=${seed}` });
}
