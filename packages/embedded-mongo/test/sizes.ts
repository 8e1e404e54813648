/**
 * Sizes of long tests: normal, larger for `npm run test:long` of the repository, and largest with
 * its `--full`.
 */
const size = process.env['TEST_SIZE'];
const sized = (normal: number, long: number, full: number) =>
  size === 'full' ? full : size === 'long' ? long : normal;

export const sizes = {
  /** Number of times that a server is killed under load. */
  crash: { restarts: sized(3, 10, 30) },
  wireFuzz: { messages: sized(10_000, 50_000, 100_000) },
  /** Number of times that a journal is torn. */
  durability: { tears: sized(12, 40, 200) },
  /** Number of random changes; rows are counted after each one. */
  count: { steps: sized(250, 1_000, 5_000) },
};
