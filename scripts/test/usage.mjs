/**
 * The text of `npm test -- --help`. Plain Node, because a clone may not have installed its packages
 * yet.
 */
import os from 'node:os';

/**
 * Default number of parallel files. It is two more than the number of cores, because tests often
 * wait for other processes.
 */
export const defaultJobs = () => os.availableParallelism() + 2;

/** Maximum number of flaky files in one CI run. */
export const flakyMax = 2;

export const usage = `npm test -- [files or folders] [options]
Runs the tests on temporary databases; without names, all of them.

  --grep, -g <pattern>   only tests whose title matches
  --jobs, -j <n>         files at the same time (default ${defaultJobs()} on this machine)
  --random[=<seed>]      files in a random order; the seed is printed
  --long                 long tests: files named *.long.test.ts, and tests with sizes in larger sizes (npm run test:long)
  --rotate               a quarter of the long tests in rotation, and those that the change touches (npm run test:rotation)
  --full                 long tests in the largest sizes, which the guarantees name
  --bail, -b             stop after the first file that fails
  --help                 print this and do nothing
SEED=<n> repeats a random test.
--rotate reads LONG_ROUND (number of the run), TEST_BASE (commit before the change) and LONG_BUDGET_S (time budget).
A file that fails in parallel runs again alone. More than ${flakyMax} files that pass only then fail the run.`;
