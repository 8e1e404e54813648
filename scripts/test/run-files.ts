/** Runs test files beside each other and collects how they went. */
import path from 'node:path';
import type { DatabasePair, OwnDatabases } from '../databases/own-databases.js';
import type { BuiltTests } from './build-tests.js';
import type { Options } from './options.js';
import { runAgainMax, seedOf, type Outcome } from './flaky.js';
import type { Report } from './report.js';
import { runFile, type FileResult } from './run-file.js';
import { isLong } from './test-files.js';
import { flakyMax } from './usage.mjs';

/** Longer than any file takes on a busy machine: the limits that matter are those of the tests. */
const fileLimitMs = { normal: 10 * 60_000, long: 45 * 60_000, full: 60 * 60_000 };

/**
 * They compare the times of one phase with those of another, so the load must be the same in both, drive a browser, which is as
 * impatient as a person, or start as many processes as there are: each runs when the others are done.
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

/**
 * They promise an answer within a time, and do little else than wait: they run beside each other, when those that take
 * all of the machine are done.
 */
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
  /** In the order in which they begin. */
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

  // Files beside each other don't wait for what one of them asks of its database.
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
        built: built.fileOf(file),
        grep: options.grep,
        forbidOnly: options.forbidOnly,
        // A named file runs whole, and so does a long one, because nothing of it ran before.
        sizedOnly: options.size !== 'normal' && options.names.length === 0 && !isLong(file),
      },
      cwd: path.join(root, folderOf(file)),
      env: { ...databases.env, ...pair, ...(seed !== null && { SEED: seed }) },
      localDir: databases.localDir,
      limitMs: fileLimitMs[options.size],
      stopping: databases.stopping,
      told: (test) => report.test(test),
    });

  /** A single file ran alone already, and `bail` asks for a quick end. */
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
      // With another seed a rare mistake would look like an unreliable test.
      const second = await run(first.file, databases.pairs[0], seedOf(first));
      const failedAgain = isFailed(second, options);
      report.file(second, failedAgain);
      if (!failedAgain) {
        flaky.push(first);
        results[results.indexOf(first)] = second;
      }
    }
    return flaky;
  }
  const beside = (waiting: string[]) =>
    Promise.all(databases.pairs.map((pair) => workThrough(waiting, pair)));
  await beside(files.filter((file) => !runsAlone.has(file) && !hasTimeLimits.has(file)));
  await beside(files.filter((file) => hasTimeLimits.has(file)));
  await workThrough(
    files.filter((file) => runsAlone.has(file)),
    databases.pairs[0],
  );
  return { flaky: await runFailedAgain(), results };
}

/** Tests run in the folder of the package that they belong to. */
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

/** A file without a test proves nothing; unless only some titles were asked for. */
export function isFailed({ tests, problem }: FileResult, { grep }: Pick<Options, 'grep'>): boolean {
  return (
    problem !== null || tests.some((each) => each.state === 'failed') || (tests.length === 0 && grep === null)
  );
}
