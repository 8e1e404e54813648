/**
 * The sizes of long tests. `npm run test:long` in the root of the repository uses larger sizes than
 * the default, and its `--full` uses the largest.
 */
const size = process.env['TEST_SIZE'];
const sized = (normal: number, long: number, full: number) =>
  size === 'full' ? full : size === 'long' ? long : normal;

export const sizes = {
  /** How many times a server is killed under load. */
  crash: { restarts: sized(3, 10, 30) },
  wireFuzz: { messages: sized(10_000, 50_000, 100_000) },
  /** How many times a journal is truncated at a random position. */
  durability: { tears: sized(12, 40, 200) },
  /** The number of random changes. The documents are counted after each change. */
  count: { steps: sized(250, 1_000, 5_000) },
};
