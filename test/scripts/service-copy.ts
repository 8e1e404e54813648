/** Runs `npm start` in a separate process with its own data directory. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readDemoFile, type DemoFile } from '../../scripts/start/demo-file.js';
import { isOwnProcess } from '../../scripts/supervisor/pid-files.js';

const waitMsDefault = 60_000;

export interface ServiceCopy {
  process: ChildProcess;
  localDir: string;
  /** Returns everything that the process has printed so far. */
  printed: () => string;
  /** Waits until the process has printed this text. */
  prints: (text: string) => Promise<void>;
  /** Waits until the service is ready. Returns the demo file. */
  ready: () => Promise<DemoFile>;
  /** Waits until the process has exited. */
  ended: () => Promise<{ code: number | null }>;
  /** Sends the signal and waits until the process has exited. */
  end: (signal: NodeJS.Signals) => Promise<{ code: number | null; tookMs: number }>;
}

/** Returns the database settings of this test run, with unique names. */
export function sharedDatabases(): NodeJS.ProcessEnv {
  const id = randomUUID().slice(0, 8);
  const uri = new URL((process.env['MONGODB_URI'] ?? '').replace(/^mongodb/, 'http'));
  uri.pathname = `/start_${id}`;
  return { MONGODB_URI: uri.href.replace(/^http/, 'mongodb'), QUEUE_PREFIX: `start-${id}` };
}

/**
 * Starts a copy of the service.
 * @param options.byNpm True to start through npm and its shell, as a user does.
 * @param options.cwd Another copy of the repository. Default: this one.
 * @param options.waitMs Time limit until the service is ready.
 */
export function startCopy(
  env: NodeJS.ProcessEnv,
  options: { script?: string; byNpm?: boolean; cwd?: string; waitMs?: number } = {},
): ServiceCopy {
  const { script = 'start', byNpm = false, waitMs = waitMsDefault } = options;
  const localDir = env['LOCAL_DIR'] ?? fs.mkdtempSync(path.join(os.tmpdir(), 'topup-copy-'));
  const [program, args] = byNpm
    ? ['npm', ['run', '--silent', script]]
    : [process.execPath, [`scripts/${script}.mjs`]];
  const started = spawn(program, args, {
    cwd: options.cwd,
    env: {
      ...process.env,
      NODE_ENV: 'development',
      LOG_LEVEL: 'info',
      PORT: '0',
      LOCAL_DIR: localDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let printed = '';
  const keep = (chunk: Buffer) => {
    printed += chunk.toString();
  };
  started.stdout?.on('data', keep);
  started.stderr?.on('data', keep);
  const exited = once(started, 'close');
  return {
    process: started,
    localDir,
    printed: () => printed,
    async prints(text) {
      await eventually(`"${text}" is printed`, () => (printed.includes(text) ? true : null));
    },
    async ready() {
      await eventually(
        'the service runs',
        () => {
          if (started.exitCode !== null) {
            throw new Error(`npm start ended too early:\n${printed}`);
          }
          return printed.includes('is running') ? true : null;
        },
        waitMs,
      );
      const demo = readDemoFile(localDir);
      if (demo === null) {
        throw new Error('the service runs and there is no demo.json');
      }
      return demo;
    },
    async ended() {
      await exited;
      return { code: started.exitCode };
    },
    async end(signal) {
      const startedAt = performance.now();
      started.kill(signal);
      await exited;
      return { code: started.exitCode, tookMs: performance.now() - startedAt };
    },
  };
}

/**
 * Polls every 50 ms until `ask` returns a value other than null. The default limit is one minute.
 */
export async function eventually<T>(what: string, ask: () => T | null, waitMs = waitMsDefault): Promise<T> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const found = ask();
    if (found !== null) {
      return found;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${waitMs} ms in vain until ${what}`);
    }
    await delay(50);
  }
}

/**
 * Returns the ids of the running processes of a copy. Their command lines contain its directory.
 */
export function processesOf(localDir: string): number[] {
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isOwnProcess(pid, localDir));
}
