/** Tests as plain JavaScript, each file with what it needs in a few chunks: a process then starts at once. */
import fs from 'node:fs';
import path from 'node:path';
import { bundle } from '../bundle.mjs';
import { commandLine } from '../supervisor/process-table.js';
import type { ImportGraph } from './choose-long.js';
import { filesEndingWith } from './test-files.js';

export interface BuiltTests {
  /** The folder in which each test lies by its path in the clone. */
  dir: string;
  /** The built file of a test. */
  fileOf: (test: string) => string;
  /** The imports of every test and of what it imports, without packages. */
  imports: ImportGraph;
}

const prefix = 'tests-of-';

/** Every test that was chosen, and the programs that tests start beside themselves (`*-process.ts`). */
export async function buildTests(root: string, tests: string[]): Promise<BuiltTests> {
  const cache = path.join(root, 'node_modules/.cache');
  removeLeftovers(cache);
  const dir = path.join(cache, `${prefix}${process.pid}`);
  process.once('exit', () => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const inputs = await bundle(root, {
    entryPoints: [...tests, ...filesEndingWith(root, '-process.ts')],
    outdir: dir,
    extension: '.mjs',
    // What several tests share is built once.
    splitting: true,
  });
  return {
    dir,
    fileOf: (test) => path.join(dir, test.replace(/\.ts$/, '.mjs')),
    imports: new Map(
      Object.entries(inputs).map(([file, { imports }]) => [
        file,
        imports.map((each) => each.path).filter((each) => !each.includes('node_modules/')),
      ]),
    ),
  };
}

/** Of runs that were killed. */
function removeLeftovers(cache: string): void {
  const built = fs.existsSync(cache) ? fs.readdirSync(cache).filter((name) => name.startsWith(prefix)) : [];
  for (const name of built.filter((each) => commandLine(Number(each.slice(prefix.length))) === '')) {
    fs.rmSync(path.join(cache, name), { recursive: true, force: true });
  }
}
