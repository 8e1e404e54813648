/** How long each file took last time on this machine, so that the longest can begin first. */
import fs from 'node:fs';
import path from 'node:path';
import type { Options, TestSize } from './options.js';

export interface Times {
  expectedMs: (file: string) => number;
  /** Keeps what was measured for the next run. */
  keep: (measured: Map<string, number>) => void;
}

/** Milliseconds by file, in each size of which CI runs them. */
type SlowFiles = Record<Exclude<TestSize, 'full'>, Record<string, number>>;

/** A file that was never run here counts by test/slow-files.json, or else by its size. */
const msPerByte = 1;

export function readTimes(root: string, { size }: Pick<Options, 'size'>): Times {
  const file = path.join(root, `node_modules/.cache/test-times-${size}.json`);
  const slow = JSON.parse(fs.readFileSync(path.join(root, 'test/slow-files.json'), 'utf8')) as SlowFiles;
  const known = { ...slow[size === 'full' ? 'long' : size], ...readJson(file) };
  return {
    expectedMs: (test) => known[test] ?? fs.statSync(path.join(root, test)).size * msPerByte,
    keep(measured) {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      // Another run may have ended in the meantime.
      const all = { ...readJson(file), ...Object.fromEntries(measured) };
      fs.writeFileSync(`${file}.${process.pid}`, JSON.stringify(all, null, 2));
      fs.renameSync(`${file}.${process.pid}`, file);
    },
  };
}

function readJson(file: string): Record<string, number> {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}
