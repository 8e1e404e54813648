/**
 * Bundles all tests into one script, so that each process starts quickly. All processes share the
 * compiled code of the script (supervisor/run-cached.ts). A process evaluates only its test file.
 */
import fs from 'node:fs';
import path from 'node:path';
import { bundle } from '../bundle.mjs';
import { commandLine } from '../supervisor/process-table.js';
import type { ImportGraph } from './choose-long.js';
import { testBundle } from './load-built.js';
import { filesEndingWith } from './test-files.js';

export interface BuiltTests {
  /** Folder of the built tests. */
  dir: string;
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
  const { name, ext } = path.parse(testBundle);
  const inputs = await bundle(root, {
    entryPoints: [
      { in: writeEntry(root, dir, [...tests, ...filesEndingWith(root, '-process.ts')]), out: name },
    ],
    outdir: dir,
    extension: ext,
    format: 'cjs',
    compact: true,
  });
  escapeNonAscii(path.join(dir, testBundle));
  return {
    dir,
    imports: new Map(
      Object.entries(inputs).map(([file, { imports }]) => [
        file,
        imports.map((each) => each.path).filter((each) => !each.includes('node_modules/')),
      ]),
    ),
  };
}

/** Writes a module that evaluates a file only when its loader is called. Returns its path. */
function writeEntry(root: string, dir: string, files: string[]): string {
  const loaders = files.map((file) => {
    const [name, module] = [file, path.join(root, file)].map((each) => JSON.stringify(each));
    return `${name}: () => import(${module}),`;
  });
  const entry = path.join(dir, 'entry.js');
  fs.mkdirSync(dir, { recursive: true });
  fs.writeFileSync(entry, ['export const loaders = {', ...loaders, '};', ''].join('\n'));
  return entry;
}

/**
 * Node reads a script that is pure ASCII in half the time and memory (supervisor/run-cached.ts).
 * esbuild escapes strings only, not templates and regular expressions.
 */
function escapeNonAscii(file: string): void {
  const escaped = fs
    .readFileSync(file, 'utf8')
    // An escaped character keeps its backslash, which would change the meaning of the escape.
    .replace(/(?<!\\)[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  fs.writeFileSync(file, escaped);
}

/** Removes the folders that killed runs left behind. */
function removeLeftovers(cache: string): void {
  const built = fs.existsSync(cache) ? fs.readdirSync(cache).filter((name) => name.startsWith(prefix)) : [];
  for (const name of built.filter((each) => commandLine(Number(each.slice(prefix.length))) === '')) {
    fs.rmSync(path.join(cache, name), { recursive: true, force: true });
  }
}
