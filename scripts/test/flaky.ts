/** A test file that failed beside others and passed when it ran again alone. */
import fs from 'node:fs';
import path from 'node:path';
import type { FileResult } from './run-file.js';

export interface Outcome {
  /** Of a file that passed when it ran again, its second run. */
  results: FileResult[];
  /** The first run of each of these. */
  flaky: FileResult[];
}

/** More failed files are no accident, and running all of them again would take too long. */
export const runAgainMax = 5;

/** The files that test/FLAKY.md names, each in a list item with its path in backticks. */
export function knownFlaky(text: string): Set<string> {
  return new Set([...text.matchAll(/^- `([^`]+)`/gm)].map(([, file = '']) => file));
}

export function readKnownFlaky(root: string): Set<string> {
  return knownFlaky(fs.readFileSync(path.join(root, 'test/FLAKY.md'), 'utf8'));
}

/** The seed that the failed tests name, or else the file as a whole; null for none or several. */
export function seedOf({ tests, printed }: Pick<FileResult, 'tests' | 'printed'>): string | null {
  const failed = tests.filter(({ state }) => state === 'failed');
  const named = seedsIn(
    failed.map((each) => `${each.path.join(' ')} ${each.failure?.text ?? ''}`).join('\n'),
  );
  const seeds = named.length > 0 ? named : seedsIn(printed);
  return seeds.length === 1 ? (seeds[0] ?? null) : null;
}

function seedsIn(text: string): string[] {
  return [...new Set([...text.matchAll(/\bSEED=(\d+)/g)].map(([, seed = '']) => seed))];
}
