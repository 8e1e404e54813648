/** Tests as plain JavaScript, each file with what it needs in a few chunks: a process then starts at once. */
import fs from 'node:fs';
import path from 'node:path';
import { bundle } from '../bundle.mjs';
import { filesEndingWith } from './test-files.js';

export interface BuiltTests {
  /** The folder in which each test lies by its path in the clone. */
  dir: string;
  /** The built file of a test. */
  fileOf: (test: string) => string;
}

/** Every test that was chosen, and the programs that tests start beside themselves (`*-process.ts`). */
export async function buildTests(root: string, tests: string[]): Promise<BuiltTests> {
  const dir = path.join(root, 'node_modules/.cache', `tests-${process.pid}`);
  process.once('exit', () => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  await bundle(root, {
    entryPoints: [...tests, ...filesEndingWith(root, '-process.ts')],
    outdir: dir,
    extension: '.mjs',
    // What several tests share is built once.
    splitting: true,
  });
  return { dir, fileOf: (test) => path.join(dir, test.replace(/\.ts$/, '.mjs')) };
}
