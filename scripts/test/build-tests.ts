/** Bundles tests into plain JavaScript with shared chunks, so that each process starts quickly. */
import fs from 'node:fs';
import path from 'node:path';
import { bundle } from '../bundle.mjs';
import { commandLine } from '../supervisor/process-table.js';
import type { ImportGraph } from './choose-long.js';
import { filesEndingWith } from './test-files.js';

export interface BuiltTests {
  /** Folder of the built tests. Each test keeps its path in the repository. */
  dir: string;
  /** Returns the built file of a test. */
  fileOf: (test: string) => string;
  /** The imports of every test and of the files that it imports, without packages. */
  imports: ImportGraph;
}

const prefix = 'tests-of-';

/** Builds every chosen test, and the helper programs of tests (`*-process.ts`). */
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
    // Code that several tests share is built once.
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

/** Removes the folders that killed runs left behind. */
function removeLeftovers(cache: string): void {
  const built = fs.existsSync(cache) ? fs.readdirSync(cache).filter((name) => name.startsWith(prefix)) : [];
  for (const name of built.filter((each) => commandLine(Number(each.slice(prefix.length))) === '')) {
    fs.rmSync(path.join(cache, name), { recursive: true, force: true });
  }
}
