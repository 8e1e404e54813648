/** Finds, selects and sorts the test files of the repository. */
import fs from 'node:fs';
import path from 'node:path';
import { createRandom } from '../support/random.js';
import { PlainError } from '../supervisor/plain-error.js';
import type { Options } from './options.js';

/** Relative to the repository root. */
const folders = ['test', 'packages/embedded-mongo/test'];

/** Returns all files below the test folders with this ending. */
export function filesEndingWith(root: string, ending: string): string[] {
  return folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith(ending))
      .map((file) => path.posix.join(folder, ...file.split(path.sep)))
      .sort(),
  );
}

/** @throws PlainError for a name without a test file. */
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

/** Returns the number of files left to the long runs. */
export function countLong(root: string): number {
  return filesEndingWith(root, longEnding).length;
}

const longEnding = '.long.test.ts';

/**
 * True for a file that is too slow for the five minutes of `npm test`; the long runs include it
 * (decision 058).
 */
export function isLong(file: string): boolean {
  return file.endsWith(longEnding);
}

function isWithin(file: string, name: string): boolean {
  return name === '' || file === name || file.startsWith(`${name}/`);
}

/** True if the long runs include the file. Tests with several sizes import sizes.js. */
export function isSized(root: string, file: string): boolean {
  return isLong(file) || /from '[./\w-]*\/sizes\.js'/.test(fs.readFileSync(path.join(root, file), 'utf8'));
}

/** CI runs `npm test` without tools such as PHP; the long runs include the skipped tests. */
function needsTool(file: string): boolean {
  return /from '[./\w-]*\/require-tool\.js'/.test(fs.readFileSync(file, 'utf8'));
}

/**
 * @param expectedMs Expected duration of a file. The longest start first, so that none remains
 * alone at the end.
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
