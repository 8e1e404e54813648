/** Runs one test file in its own process, with its own database, queue prefix and directory. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { getBuiltProgramPath } from '../../config/project-file.js';
import type { FileMessage, FileOrder, TestResult } from './messages.js';

export interface FileRun {
  /** Path relative to the repository root. */
  file: string;
  order: FileOrder;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Directory in which the file's own directory is created. */
  localDir: string;
  limitMs: number;
  stopping: AbortSignal;
  /** Called for each finished test. */
  onResult: (result: TestResult) => void;
}

export interface FileResult {
  file: string;
  tests: TestResult[];
  /** A problem of the file itself, which no single test reports. */
  problem: string | null;
  printed: string;
  ms: number;
  cpuMs: number;
}

const printedMax = 200_000;
const lastWordsMs = 2_000;

export async function runFile(run: FileRun): Promise<FileResult> {
  const startedAt = performance.now();
  const result: FileResult = { file: run.file, tests: [], problem: null, printed: '', ms: 0, cpuMs: 0 };
  const dir = path.join(run.localDir, 'files', randomUUID().slice(0, 8));
  fs.mkdirSync(path.join(dir, 'tmp'), { recursive: true });
  const child = spawn(process.execPath, [getBuiltProgramPath('scripts/test/file-process.js')], {
    cwd: run.cwd,
    env: { ...run.env, ...ownPlaces(run.env, dir) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A separate process group, so that all child processes can be killed together with it.
    detached: true,
  });
  const keep = (chunk: Buffer) => {
    result.printed = (result.printed + chunk.toString()).slice(-printedMax);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const closed = once(child, 'close');
  const ended = follow(child, run, result);
  child.send(run.order);
  await ended;
  endGroup(child);
  // Waits for the last output. Only a process in another process group could keep the pipe open.
  await Promise.race([closed, delay(lastWordsMs)]);
  fs.rmSync(dir, { recursive: true, force: true });
  result.ms = performance.now() - startedAt;
  return result;
}

/** Returns resources that no two files share. */
function ownPlaces(env: NodeJS.ProcessEnv, dir: string): NodeJS.ProcessEnv {
  const name = path.basename(dir);
  const uri = new URL(env['MONGODB_URI'] ?? '');
  uri.pathname = `/file_${name}`;
  // Simulated faults target this client name (test/support/mongo-faults.ts).
  uri.searchParams.set('appName', `file_${name}`);
  return {
    MONGODB_URI: uri.href,
    QUEUE_PREFIX: `file-${name}`,
    LOCAL_DIR: dir,
    TMPDIR: path.join(dir, 'tmp'),
  };
}

/** Resolves after the last message, or when the process ends. */
async function follow(child: ChildProcess, run: FileRun, result: FileResult): Promise<void> {
  const endReceived = new AbortController();
  child.on('message', (message: FileMessage) => {
    switch (message.type) {
      case 'test':
        result.tests.push(message.result);
        run.onResult(message.result);
        break;
      case 'broken':
        result.problem = message.failure.text;
        break;
      case 'end':
        result.cpuMs = message.cpuMs;
        endReceived.abort();
        break;
    }
  });
  const timer = setTimeout(() => {
    result.problem = `it timed out after ${run.limitMs / 60_000} minutes and was killed`;
    endGroup(child);
  }, run.limitMs);
  const stop = () => {
    result.problem = 'it was stopped';
    endGroup(child);
  };
  run.stopping.addEventListener('abort', stop);
  const how = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code ?? 0}` : signal));
  });
  clearTimeout(timer);
  run.stopping.removeEventListener('abort', stop);
  if (!endReceived.signal.aborted) {
    result.problem ??= `its process ended before its tests (${how})`;
  }
}

/** Kills the process and its children, except children in another process group. */
function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? Number.NaN), 'SIGKILL');
  } catch {
    // The group has no process left.
  }
}
