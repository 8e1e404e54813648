/** The tests that have two sizes: normal, and long for `npm run test:long` of the repository (LONG_TESTS=1). */
const isLong = process.env['LONG_TESTS'] === '1';

export const sizes = {
  /** How often a server is killed under load. */
  crash: isLong ? { restarts: 30 } : { restarts: 3 },
  wireFuzz: isLong ? { messages: 100_000 } : { messages: 10_000 },
};
