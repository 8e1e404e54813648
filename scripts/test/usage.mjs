/** The answer to `npm test -- --help`. Plain Node, because a clone may have no packages yet. */
import os from 'node:os';

/** One more than the cores, because tests often wait for processes. */
export const defaultJobs = () => os.availableParallelism() + 1;

/** Maximum of flaky files in one CI run. */
export const flakyMax = 2;

export const usage = `npm test -- [files or folders] [options]
Runs the tests on databases of their own that are gone afterwards; without names, all of them.

  --grep, -g <pattern>   only tests whose title fits
  --jobs, -j <n>         files at the same time (default ${defaultJobs()} on this machine)
  --random[=<seed>]      files in a random order; the seed is printed
  --long                 what takes longer: files named *.long.test.ts, and tests with sizes in larger numbers (npm run test:long)
  --rotate               of what takes longer a quarter by turn, and what the change touches, as in CI (npm run test:rotation)
  --full                 the numbers that the guarantees are about
  --bail, -b             stop after the first file that fails
  --help                 print this and do nothing
SEED=<n> plays a random test again.
--rotate reads LONG_ROUND (the number of the run), TEST_BASE (the commit before the change) and LONG_BUDGET_S (the time for it).
A file that fails beside others runs again alone. More than ${flakyMax} files that pass only then fail the run.`;
