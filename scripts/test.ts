/**
 * `npm test [-- files, folders and options]`: runs the tests of the service and of the embedded
 * database, files in parallel, on temporary databases. `npm test -- --help` lists the options.
 */
import { projectRoot as root } from '../config/project-file.js';
import { withOwnDatabases, type OwnDatabases } from './databases/own-databases.js';
import { PlainError } from './supervisor/plain-error.js';
import { buildTests } from './test/build-tests.js';
import { readKnownFlaky } from './test/flaky.js';
import { readOptions, type Options } from './test/options.js';
import { createReport } from './test/report.js';
import { rotate } from './test/rotation.js';
import { isFailedRun, runFiles } from './test/run-files.js';
import { chooseFiles, countLong, inOrder } from './test/test-files.js';
import { readTimes, type Times } from './test/times.js';

async function main(args: string[]): Promise<number> {
  const options = readOptions(args, process.env);
  const times = readTimes(root, options);
  const files = inOrder(chooseFiles(root, options), options, times.expectedMs);
  const startedAt = performance.now();
  return withOwnDatabases(
    { durable: false, pairs: Math.min(options.jobs, files.length) },
    async (databases) => {
      console.log(`Tests run on: ${databases.used}`);
      const { leftOut, ...outcome } = await runAll({ files, options, times, databases });
      if (databases.stopping.aborted) {
        return 130;
      }
      // A run that is filtered by title does not measure the duration of the whole file.
      if (options.grep === null) {
        times.keep(new Map(outcome.results.map(({ file, ms }) => [file, Math.round(ms)])));
      }
      for (const line of leftOut) {
        console.log(line);
      }
      const tookMs = performance.now() - startedAt;
      createReport({ showTests: false }).sum(outcome, tookMs, readKnownFlaky(root));
      if (options.size === 'normal' && options.names.length === 0) {
        console.log(`${countLong(root)} long test files were not run: npm run test:long\n`);
      }
      return isFailedRun(outcome, options) ? 1 : 0;
    },
  );
}

interface Run {
  /** Files in the order in which they start. */
  files: string[];
  options: Options;
  times: Times;
  databases: OwnDatabases;
}

async function runAll({ files: all, options, times, databases }: Run) {
  const built = await buildTests(root, all);
  const { files, chosen, leftOut } = options.rotate
    ? rotate({ root, files: all, imports: built.imports, options, times, env: process.env })
    : { files: all, chosen: [], leftOut: [] };
  for (const line of chosen) {
    console.log(line);
  }
  const how = options.random === null ? 'the longest first' : `in the order of --random=${options.random}`;
  console.log(`${files.length} files, ${options.jobs} at the same time, ${how}`);
  const env = { ...databases.env, BUILT_TESTS: built.dir, TEST_SIZE: options.size };
  const report = createReport({ showTests: files.length === 1 });
  const outcome = await runFiles({ root, files, built, options, databases: { ...databases, env }, report });
  return { ...outcome, leftOut };
}

void main(process.argv.slice(2)).then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    if (!(error instanceof PlainError)) {
      throw error;
    }
    console.error(error.message);
    process.exit(2);
  },
);
