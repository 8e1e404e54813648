/** The answer to `npm test -- --help`. Plain Node, because a clone may have no packages yet. */
import os from 'node:os';

/** One more than there are cores: tests wait for processes as often as they compute. */
export const defaultJobs = () => os.availableParallelism() + 1;

export const usage = `npm test -- [files or folders] [options]
Runs the tests on databases of their own that are gone afterwards; without names, all of them.

  --grep, -g <pattern>   only tests whose title fits
  --jobs, -j <n>         files at the same time (default ${defaultJobs()} on this machine)
  --random[=<seed>]      files in a random order; the seed is printed
  --long                 what takes longer: files named *.long.test.ts, and tests with sizes in larger numbers (npm run test:long)
  --full                 the numbers that the guarantees are about
  --bail, -b             stop after the first file that fails
  --help                 print this and do nothing
SEED=<n> plays a random test again.`;
