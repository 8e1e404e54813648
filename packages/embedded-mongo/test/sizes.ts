/** The tests that have sizes: normal, and larger for `npm run test:long` of the repository, there with `--full` too. */
const size = process.env['TEST_SIZE'];
const sized = (normal: number, long: number, full: number) =>
  size === 'full' ? full : size === 'long' ? long : normal;

export const sizes = {
  /** How often a server is killed under load. */
  crash: { restarts: sized(3, 10, 30) },
  wireFuzz: { messages: sized(10_000, 50_000, 100_000) },
  /** How often a journal is torn. */
  durability: { tears: sized(12, 40, 200) },
  /** Random changes after each of which rows are counted. */
  count: { steps: sized(250, 1_000, 5_000) },
};
