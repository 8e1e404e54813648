import { createRandom } from '../../scripts/support/random.js';

/**
 * Returns a random number generator. SEED=<n> reproduces its numbers, and the test's title contains
 * the seed.
 */
export function seededRandom(): (() => number) & { seed: string } {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  return Object.assign(createRandom(seed), { seed: `SEED=${seed}` });
}
