// npm run unified -w packages/embedded-mongo -- <folder> [<folder> ...] [--only <text>]
//
// Runs all cases in the unified test format (github.com/mongodb/specifications) from the JSON files
// below the folders. They run with the official driver on a separate server. Prints all
// differences, and the numbers of cases for each specification. The exit code is 1 if there is a
// difference. `--only` selects the cases whose file name or description contains the text.
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EJSON } from 'bson';
import { MongoClient } from 'mongodb';
import { cleanUp, startTestServer } from '../harness.js';
import type { CaseFile } from './cases.js';
import { describeError, runCase, type Surroundings } from './run-case.js';
import { findSkipReason } from './skip-reasons.js';

interface Counts {
  passed: number;
  failed: number;
  skipped: Map<string, number>;
}

const { values: options, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' } },
});

async function main(): Promise<number> {
  if (folders.length === 0) {
    print('give a folder with cases of the unified test format');
    return 2;
  }
  const { uri } = await startTestServer();
  const admin = await MongoClient.connect(uri);
  const { version } = (await admin.db('admin').command({ buildInfo: 1 })) as unknown as { version: string };
  const countsBySpec = new Map<string, Counts>();
  for (const folder of folders) {
    // npm runs this script in the folder of the package. Relative folders refer to INIT_CWD, the
    // folder of the user.
    const root = resolve(process.env['INIT_CWD'] ?? '.', folder);
    for (const path of await jsonFilesBelow(root)) {
      const counts = countsOf(countsBySpec, specOf(root, path));
      await runFile(path, { uri, admin, version, counts });
    }
  }
  await admin.close(true);
  const all = [...countsBySpec];
  all.forEach(([spec, counts]) => report(spec, counts));
  return all.some(([, { failed }]) => failed > 0) ? 1 : 0;
}

async function jsonFilesBelow(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true });
  return entries
    .filter((entry) => entry.endsWith('.json'))
    .sort()
    .map((entry) => join(root, entry));
}

/** Returns the name of the specification to which a file belongs: the folder above `tests`. */
function specOf(root: string, path: string): string {
  const [, spec] = /([^/\\]+)[/\\]tests[/\\]/.exec(path) ?? [];
  return spec ?? (relative(root, join(path, '..')) || basename(root));
}

function countsOf(countsBySpec: Map<string, Counts>, spec: string): Counts {
  const counts = countsBySpec.get(spec) ?? { passed: 0, failed: 0, skipped: new Map<string, number>() };
  countsBySpec.set(spec, counts);
  return counts;
}

async function runFile(
  path: string,
  { version, counts, ...surroundings }: Surroundings & { version: string; counts: Counts },
): Promise<void> {
  const text = await readFile(path, 'utf8');
  const file = EJSON.parse(text, { relaxed: true }) as CaseFile;
  for (const test of file.tests) {
    const name = `${basename(path)}: ${test.description}`;
    if (!name.includes(options.only)) {
      continue;
    }
    const reason = findSkipReason(file, test, version);
    if (reason !== null) {
      counts.skipped.set(reason, (counts.skipped.get(reason) ?? 0) + 1);
      continue;
    }
    try {
      await runCase(file, test, surroundings);
      counts.passed += 1;
    } catch (error) {
      counts.failed += 1;
      print(`FAILED ${name}\n    ${describeError(error)}`);
    }
  }
}

function report(spec: string, { passed, failed, skipped }: Counts): void {
  const left = [...skipped].sort(([, a], [, b]) => b - a);
  const total = left.reduce((sum, [, count]) => sum + count, 0);
  print(`${spec}: ${passed + failed} ran, ${passed} passed, ${failed} failed, ${total} skipped`);
  left.forEach(([reason, count]) => print(`    ${String(count).padStart(4)} skipped: ${reason}`));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  process.exitCode = await main();
} finally {
  await cleanUp();
}
