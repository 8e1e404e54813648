/** Finds, selects and sorts the test files of the repository. */
import fs from 'node:fs';
import path from 'node:path';
import { createRandom } from '../support/random.js';
import { PlainError } from '../supervisor/plain-error.js';
import type { Options } from './options.js';

/** Test folders, relative to the repository root. */
const folders = ['test', 'packages/embedded-mongo/test'];

/** Returns all files below the test folders whose name ends with `ending`. */
export function filesEndingWith(root: string, ending: string): string[] {
  return folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith(ending))
      .map((file) => path.posix.join(folder, ...file.split(path.sep)))
      .sort(),
  );
}

/** @throws PlainError if no test file matches a name. */
export function chooseFiles(
  root: string,
  { names, size, rotate }: Pick<Options, 'names' | 'size' | 'rotate'>,
): string[] {
  const all = filesEndingWith(root, '.test.ts');
  const wanted = names.map((name) => path.relative(root, path.resolve(root, name)).replaceAll(path.sep, '/'));
  for (const [index, name] of wanted.entries()) {
    if (!all.some((file) => isWithin(file, name))) {
      throw new PlainError(`There is no test file at ${names[index] ?? ''}`);
    }
  }
  if (names.length > 0) {
    // Named files run regardless of their size.
    return all.filter((file) => wanted.some((name) => isWithin(file, name)));
  }
  return all.filter((file) =>
    size === 'normal' ? !isLong(file) : isSized(root, file) || (rotate && needsTool(path.join(root, file))),
  );
}

/** Returns the number of files that only the long runs include. */
export function countLong(root: string): number {
  return filesEndingWith(root, longEnding).length;
}

const longEnding = '.long.test.ts';

/**
 * True if the file is too slow for the five minutes of `npm test`. The long runs include such files
 * (decision 058).
 */
export function isLong(file: string): boolean {
  return file.endsWith(longEnding);
}

function isWithin(file: string, name: string): boolean {
  return name === '' || file === name || file.startsWith(`${name}/`);
}

/** True if the long runs include the file. Files with tests of several sizes import sizes.js. */
export function isSized(root: string, file: string): boolean {
  return isLong(file) || /from '[./\w-]*\/sizes\.js'/.test(fs.readFileSync(path.join(root, file), 'utf8'));
}

/**
 * True if the file needs a tool such as PHP. CI runs `npm test` without such tools, so the long
 * runs include the skipped tests.
 */
function needsTool(file: string): boolean {
  return /from '[./\w-]*\/require-tool\.js'/.test(fs.readFileSync(file, 'utf8'));
}

/**
 * @param expectedMs Expected duration of a file. The longest files start first, so that no long
 * file runs alone at the end.
 */
export function inOrder(
  files: string[],
  { random }: Pick<Options, 'random'>,
  expectedMs: (file: string) => number,
): string[] {
  if (random === null) {
    return files
      .map((file) => ({ file, ms: expectedMs(file) }))
      .sort((a, b) => b.ms - a.ms)
      .map(({ file }) => file);
  }
  const next = createRandom(random);
  return files
    .map((file) => ({ file, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ file }) => file);
}
