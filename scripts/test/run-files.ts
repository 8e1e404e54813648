/** Runs test files beside each other and collects how they went. */
import path from 'node:path';
import type { OwnDatabases } from '../databases/own-databases.js';
import type { BuiltTests } from './build-tests.js';
import type { Options } from './options.js';
import type { Report } from './report.js';
import { runFile, type FileResult } from './run-file.js';

/** Longer than any file takes on a busy machine: the limits that matter are those of the tests. */
const fileLimitMs = { normal: 10 * 60_000, long: 40 * 60_000 };

/**
 * They compare the times of one phase with those of another, so the load must be the same in both: each runs when the
 * others are done.
 */
const comparesTimes: ReadonlySet<string> = new Set([
  'test/providers/outage.test.ts',
  'test/webhooks/fairness.test.ts',
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

export async function runFiles({
  root,
  files,
  built,
  options,
  databases,
  report,
}: Work): Promise<FileResult[]> {
  const results: FileResult[] = [];
  const isOver = () =>
    databases.stopping.aborted || (options.bail && results.some((each) => isFailed(each, options)));

  async function workThrough(waiting: string[]): Promise<void> {
    for (let file = waiting.shift(); file !== undefined && !isOver(); file = waiting.shift()) {
      const result = await runFile({
        file,
        order: { built: built.fileOf(file), grep: options.grep, forbidOnly: options.forbidOnly },
        cwd: path.join(root, folderOf(file)),
        env: databases.env,
        localDir: databases.localDir,
        limitMs: options.long ? fileLimitMs.long : fileLimitMs.normal,
        stopping: databases.stopping,
        told: (test) => report.test(test),
      });
      results.push(result);
      report.file(result, isFailed(result, options));
    }
  }
  const beside = files.filter((file) => !comparesTimes.has(file));
  await Promise.all(Array.from({ length: Math.min(options.jobs, beside.length) }, () => workThrough(beside)));
  await workThrough(files.filter((file) => comparesTimes.has(file)));
  return results;
}

/** Tests run in the folder of the package that they belong to. */
function folderOf(file: string): string {
  return /^packages\/[^/]+/.exec(file)?.[0] ?? '.';
}

/** A file without a test proves nothing; unless only some titles were asked for. */
export function isFailed({ tests, problem }: FileResult, { grep }: Pick<Options, 'grep'>): boolean {
  return (
    problem !== null || tests.some((each) => each.state === 'failed') || (tests.length === 0 && grep === null)
  );
}
