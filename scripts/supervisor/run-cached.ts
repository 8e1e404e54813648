/**
 * Runs a program built as one script with V8's cached code. Compilation takes half of its start
 * time (decision 058). The cache file is named after the script's modification time, because V8
 * compares only the length.
 */
import { isAscii } from 'node:buffer';
import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

/**
 * Delay after the start in milliseconds. By then the start code is compiled and becomes part of the
 * cache.
 */
const keepAfterMs = 3_000;

/** Runs the script at `url` and returns its exports. */
export function runCached(url: URL): unknown {
  const file = fileURLToPath(url);
  const { source, writtenMs } = readScript(file);
  const cache = `${file}.${process.version}-${writtenMs}`;
  const cachedData = readIfThere(cache);
  const script = new vm.Script(Module.wrap(source), {
    filename: file,
    ...(cachedData && { cachedData }),
  });
  if (!cachedData || script.cachedDataRejected) {
    keepOnce(script, cache);
  }
  const require = createRequire(url);
  const program = { exports: {} };
  const run = script.runInThisContext() as (this: unknown, ...args: unknown[]) => void;
  run.call(program.exports, program.exports, require, program, file, path.dirname(file));
  return program.exports;
}

/** Reads source and time from one file handle, because a build may replace the file. */
function readScript(file: string): { source: string; writtenMs: number } {
  const opened = openSync(file, 'r');
  try {
    const bytes = readFileSync(opened);
    // Decoding as Latin-1 is faster, and V8 then needs one byte per character.
    const source = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
    return { source, writtenMs: fstatSync(opened).mtimeMs };
  } finally {
    closeSync(opened);
  }
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Writes the cache after a delay, or at exit if that comes first. */
function keepOnce(script: vm.Script, cache: string): void {
  const atEnd = () => keep(script, cache);
  process.once('exit', atEnd);
  setTimeout(() => {
    process.off('exit', atEnd);
    keep(script, cache);
  }, keepAfterMs).unref();
}

/** Writes the cache atomically. Does nothing if the folder is read-only. */
function keep(script: vm.Script, cache: string): void {
  try {
    const own = `${cache}.${process.pid}`;
    writeFileSync(own, script.createCachedData());
    renameSync(own, cache);
  } catch {
    // Without a cache, the next start is only slower.
  }
}
