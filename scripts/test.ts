/**
 * `npm test [-- files and mocha options]`: the whole suite, or the files named, on databases of its own that are
 * gone afterwards. `--soak` runs the same tests with larger numbers (SOAK=1).
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withOwnDatabases, type OwnDatabases } from './databases/own-databases.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const packageDir = 'packages/embedded-mongo';

async function main(args: string[]): Promise<number> {
  return withOwnDatabases({ durable: false }, async (databases) => {
    console.log(`Tests run on: ${databases.used}`);
    const env = { ...databases.env, ...(args.includes('--soak') && { SOAK: '1' }) };
    return runSuites(
      args.filter((each) => each !== '--soak'),
      { ...databases, env },
    );
  });
}

/** The service's tests and those of the embedded database; with files named, only where there are some. */
async function runSuites(args: string[], databases: OwnDatabases): Promise<number> {
  const named = args.filter(isTestFile).map((file) => path.relative(root, path.resolve(root, file)));
  const options = args.filter((each) => !isTestFile(each));
  const inPackage = named.filter((file) => file.startsWith(packageDir));
  const suites = [
    { dir: '.', files: named.filter((file) => !inPackage.includes(file)) },
    { dir: packageDir, files: inPackage.map((file) => path.relative(packageDir, file)) },
  ];
  let exitCode = 0;
  for (const suite of suites) {
    if (!databases.stopping.aborted && (named.length === 0 || suite.files.length > 0)) {
      exitCode = (await mocha({ ...suite, options }, databases)) || exitCode;
    }
  }
  return exitCode;
}

function isTestFile(argument: string): boolean {
  return (
    !argument.startsWith('-') && (argument.includes('.test.') || fs.existsSync(path.join(root, argument)))
  );
}

/** @returns its exit code, which is the number of failed tests. */
async function mocha(
  { dir, files, options }: { dir: string; files: string[]; options: string[] },
  { node, env }: OwnDatabases,
): Promise<number> {
  const args = [
    path.join(root, 'node_modules/mocha/bin/mocha.js'),
    ...['--config', path.join(root, '.mocharc.json')],
    ...options,
    ...(files.length > 0 ? files : ['test/**/*.test.ts']),
  ];
  return node(args, { cwd: path.join(root, dir), env });
}

process.exit(await main(process.argv.slice(2)));
