/** Runs test files in parallel and collects their results. */
import path from 'node:path';
import type { DatabasePair, OwnDatabases } from '../databases/own-databases.js';
import type { BuiltTests } from './build-tests.js';
import type { Options } from './options.js';
import { runAgainMax, findSeed, type Outcome } from './flaky.js';
import type { Report } from './report.js';
import { runFile, type FileResult } from './run-file.js';
import { isLong } from './test-files.js';
import { flakyMax } from './usage.mjs';

/** Time limit per file, generous enough for busy machines. The tests have their own limits. */
const fileLimitMs = { normal: 10 * 60_000, long: 45 * 60_000, full: 60 * 60_000 };

/**
 * Files that run alone, after all other files. They compare the durations of phases under equal
 * load, drive a browser, or start very many processes.
 */
export const runsAlone: ReadonlySet<string> = new Set([
  'test/api/wallet/long-lists.long.test.ts',
  'test/console/browser.long.test.ts',
  'test/jobs/many-processes.long.test.ts',
  'test/providers/bulkheads.long.test.ts',
  'test/providers/outage.long.test.ts',
  'test/redis/faults.long.test.ts',
  'test/redis/full.long.test.ts',
  'test/webhooks/fairness.long.test.ts',
]);

/** Files with deadlines, which mostly wait. They run in parallel, after the CPU-bound files. */
const hasTimeLimits: ReadonlySet<string> = new Set([
  'test/api/access/mongodb-away.long.test.ts',
  'test/api/access/redis-away.long.test.ts',
  'test/api/reseller/synchronous-answer.long.test.ts',
  'test/redis/cached.test.ts',
  'test/redis/cache-outage.long.test.ts',
  'test/inbox/messages.test.ts',
  'test/money/posting.test.ts',
  'test/providers/conformance.long.test.ts',
  'test/redis/stopping.long.test.ts',
  'test/scripts/resolve-mongodb.long.test.ts',
  'test/simulator/faults.long.test.ts',
  'test/simulator/restart.test.ts',
  'test/webhooks/hostile-urls.test.ts',
]);

export interface Work {
  root: string;
  /** Files in the order in which they start. */
  files: string[];
  built: BuiltTests;
  options: Options;
  databases: OwnDatabases;
  report: Report;
}

export async function runFiles({ root, files, built, options, databases, report }: Work): Promise<Outcome> {
  const results: FileResult[] = [];
  const isOver = () =>
    databases.stopping.aborted || (options.bail && results.some((each) => isFailed(each, options)));

  // Each worker has its own databases, so that parallel files do not slow each other down.
  async function workThrough(waiting: string[], pair: DatabasePair | undefined): Promise<void> {
    for (let file = waiting.shift(); file !== undefined && !isOver(); file = waiting.shift()) {
      const result = await run(file, pair);
      results.push(result);
      report.file(result, isFailed(result, options));
    }
  }
  const run = (file: string, pair: DatabasePair | undefined, seed: string | null = null) =>
    runFile({
      file,
      order: {
        builtDir: built.dir,
        file,
        grep: options.grep,
        forbidOnly: options.forbidOnly,
        // A file that is named or long runs completely, because the normal run did not include it.
        sizedOnly: options.size !== 'normal' && options.names.length === 0 && !isLong(file),
      },
      cwd: path.join(root, folderOf(file)),
      env: { ...databases.env, ...pair, ...(seed !== null && { SEED: seed }) },
      localDir: databases.localDir,
      limitMs: fileLimitMs[options.size],
      stopping: databases.stopping,
      onResult: (test) => report.test(test),
    });

  /**
   * Repeats failed files alone. Repeats nothing if a single file ran, because it already ran alone,
   * or if `bail` stops the run early.
   */
  async function runFailedAgain(): Promise<FileResult[]> {
    const failed = results.filter((each) => isFailed(each, options));
    if (files.length === 1 || options.bail || failed.length > runAgainMax) {
      return [];
    }
    const flaky: FileResult[] = [];
    for (const first of failed) {
      if (isOver()) {
        break;
      }
      report.again(first.file);
      // The second run uses the same seed. Another seed could hide a rare error and make the test
      // look flaky.
      const second = await run(first.file, databases.pairs[0], findSeed(first));
      const failedAgain = isFailed(second, options);
      report.file(second, failedAgain);
      if (!failedAgain) {
        flaky.push(first);
        results[results.indexOf(first)] = second;
      }
    }
    return flaky;
  }
  const runInParallel = (waiting: string[]) =>
    Promise.all(databases.pairs.map((pair) => workThrough(waiting, pair)));
  await runInParallel(files.filter((file) => !runsAlone.has(file) && !hasTimeLimits.has(file)));
  await runInParallel(files.filter((file) => hasTimeLimits.has(file)));
  await workThrough(
    files.filter((file) => runsAlone.has(file)),
    databases.pairs[0],
  );
  return { flaky: await runFailedAgain(), results };
}

/** Returns the folder in which a test runs, which is the folder of its package. */
function folderOf(file: string): string {
  return /^packages\/[^/]+/.exec(file)?.[0] ?? '.';
}

export function isFailedRun(
  { results, flaky }: Outcome,
  options: Pick<Options, 'grep' | 'flakyBefore'>,
): boolean {
  return (
    results.every(({ tests }) => tests.length === 0) ||
    results.some((each) => isFailed(each, options)) ||
    options.flakyBefore + flaky.length > flakyMax
  );
}

/** True if the file failed. A file without tests fails too, unless titles are filtered. */
export function isFailed({ tests, problem }: FileResult, { grep }: Pick<Options, 'grep'>): boolean {
  return (
    problem !== null || tests.some((each) => each.state === 'failed') || (tests.length === 0 && grep === null)
  );
}
