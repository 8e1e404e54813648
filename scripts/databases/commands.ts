import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { eachLine } from '../supervisor/lines.js';
import { hasTimedOut, limitedSignal } from '../supervisor/limited-signal.js';

/** Finds the full path of a program on PATH. Null if there is none. */
export function findOnPath(program: string, env: NodeJS.ProcessEnv): string | null {
  const candidates = (env['PATH'] ?? '')
    .split(path.delimiter)
    .filter((dir) => dir !== '')
    .flatMap((dir) => [path.join(dir, program), path.join(dir, `${program}.exe`)]);
  return candidates.find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

interface RunOptions {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  limitMs: number;
  line: (line: string) => void;
}

/**
 * Runs a program to its end. Rejects if the program fails, times out or is aborted.
 * @returns The program's stdout.
 */
export async function runCommand(program: string, args: string[], options: RunOptions): Promise<string> {
  const signal = limitedSignal(options.signal, options.limitMs);
  const child = spawn(program, args, {
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const written: string[] = [];
  eachLine(child.stdout, (line) => {
    written.push(line);
    options.line(line);
  });
  eachLine(child.stderr, options.line);
  const name = `${path.basename(program)} ${args[0] ?? ''}`;
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    throw hasTimedOut(signal) ? new Error(`${name} took longer than ${options.limitMs / 1_000} s`) : error;
  })) as [number | null];
  if (code !== 0) {
    throw new Error(`${name} ended with exit code ${code ?? 'none'}`);
  }
  return written.join('\n');
}
