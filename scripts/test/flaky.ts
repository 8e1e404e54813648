/**
 * Results of a run with flaky files. A flaky file failed in parallel and passed when it was
 * repeated alone.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { FileResult } from './run-file.js';

export interface Outcome {
  /** Results of all files. For a file that passed when repeated, the second run. */
  results: FileResult[];
  /** The first run of each flaky file. */
  flaky: FileResult[];
}

/**
 * With more failed files, repeating them would take too long, and they are unlikely to be flaky.
 */
export const runAgainMax = 5;

/** Returns the files listed in test/FLAKY.md: list items with a path in backticks. */
export function knownFlaky(text: string): Set<string> {
  return new Set([...text.matchAll(/^- `([^`]+)`/gm)].map(([, file = '']) => file));
}

export function readKnownFlaky(root: string): Set<string> {
  return knownFlaky(fs.readFileSync(path.join(root, 'test/FLAKY.md'), 'utf8'));
}

/**
 * Returns the seed in the failed tests' output, or in the file's output. Null if there is none or
 * more than one.
 */
export function findSeed({ tests, printed }: Pick<FileResult, 'tests' | 'printed'>): string | null {
  const failed = tests.filter(({ state }) => state === 'failed');
  const named = findSeeds(
    failed.map((each) => `${each.path.join(' ')} ${each.failure?.text ?? ''}`).join('\n'),
  );
  const seeds = named.length > 0 ? named : findSeeds(printed);
  return seeds.length === 1 ? (seeds[0] ?? null) : null;
}

function findSeeds(text: string): string[] {
  return [...new Set([...text.matchAll(/\bSEED=(\d+)/g)].map(([, seed = '']) => seed))];
}
