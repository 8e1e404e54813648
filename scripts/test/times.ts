/** The last durations of the files on this machine. The runner starts the longest files first. */
import fs from 'node:fs';
import path from 'node:path';
import type { Options, TestSize } from './options.js';

export interface Times {
  expectedMs: (file: string) => number;
  /** Stores the measured times for the next run. */
  keep: (measured: Map<string, number>) => void;
}

/** Duration in milliseconds by file, for each size that CI runs. */
type SlowFiles = Record<Exclude<TestSize, 'full'>, Record<string, number>>;

/**
 * Estimated milliseconds per byte of a file that is neither measured here nor listed in
 * test/slow-files.json.
 */
const msPerByte = 1;

export function readTimes(root: string, { size }: Pick<Options, 'size'>): Times {
  const cacheOf = (of: TestSize) => path.join(root, `node_modules/.cache/test-times-${of}.json`);
  const file = cacheOf(size);
  const slow = readSlowFiles(root);
  const measured = readJson(file);
  const committed = slow[size === 'full' ? 'long' : size];
  const factor = size === 'normal' ? 1 : slowness(slow.normal, readJson(cacheOf('normal')));
  return {
    expectedMs: (test) =>
      measured[test] ?? (committed[test] ?? fs.statSync(path.join(root, test)).size * msPerByte) * factor,
    keep(now) {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      // Another run may have written the file in the meantime.
      const all = { ...readJson(file), ...Object.fromEntries(now) };
      fs.writeFileSync(`${file}.${process.pid}`, JSON.stringify(all, null, 2));
      fs.renameSync(`${file}.${process.pid}`, file);
    },
  };
}

export function readSlowFiles(root: string): SlowFiles {
  return JSON.parse(fs.readFileSync(path.join(root, 'test/slow-files.json'), 'utf8')) as SlowFiles;
}

/**
 * Returns the factor by which this machine is slower than the times in test/slow-files.json,
 * computed from the measured files. 1 if no file was measured.
 */
export function slowness(committed: Record<string, number>, measured: Record<string, number>): number {
  const both = Object.keys(committed).filter((file) => measured[file] !== undefined);
  const sum = (of: Record<string, number>) => both.reduce((total, file) => total + (of[file] ?? 0), 0);
  return both.length === 0 ? 1 : sum(measured) / sum(committed);
}

function readJson(file: string): Record<string, number> {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}
