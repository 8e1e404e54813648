/**
 * Runs a program that was built as one script, with the code that V8 has compiled for it before: of the time until a
 * program is ready, compiling its packages is half (decision 058). The code lies beside the script, under the time at
 * which that was written: V8 itself compares no more than the length.
 */
import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

/** By then a program has run what it needs to be ready, and that is compiled too. */
const keepAfterMs = 3_000;

export function runCached(url: URL): void {
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
}

/** Both of the same file, also while a build puts another one in its place. */
function readScript(file: string): { source: string; writtenMs: number } {
  const opened = openSync(file, 'r');
  try {
    return { source: readFileSync(opened, 'utf8'), writtenMs: fstatSync(opened).mtimeMs };
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

/** When it is ready, or at its end if that comes first. */
function keepOnce(script: vm.Script, cache: string): void {
  const atEnd = () => keep(script, cache);
  process.once('exit', atEnd);
  setTimeout(() => {
    process.off('exit', atEnd);
    keep(script, cache);
  }, keepAfterMs).unref();
}

/** Whole or not at all; where nothing can be written, nothing is kept. */
function keep(script: vm.Script, cache: string): void {
  try {
    const own = `${cache}.${process.pid}`;
    writeFileSync(own, script.createCachedData());
    renameSync(own, cache);
  } catch {
    // It only takes longer.
  }
}
