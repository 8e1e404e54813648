import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createOutput } from '../supervisor/output.js';
import { PlainError } from '../supervisor/plain-error.js';
import { createSupervisor } from '../supervisor/supervisor.js';
import { whenAskedToStop } from '../supervisor/when-asked-to-stop.js';
import { resolveMongodb } from './resolve-mongodb.js';
import { resolveRedis } from './resolve-redis.js';

const childStopMs = 10_000;

/** What runs on databases of its own. */
export interface OwnDatabases {
  /** For the processes that use them: MONGODB_URI, REDIS_URL, LOCAL_DIR, TMPDIR and the mode for tests. */
  env: NodeJS.ProcessEnv;
  /** The directory that is gone afterwards. */
  localDir: string;
  /** The two databases, in words. */
  used: string;
  /** Aborted when the person at the terminal wants to stop. */
  stopping: AbortSignal;
  /** Runs Node with these arguments, ended in order when we are. @returns its exit code. */
  node: (args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }) => Promise<number>;
}

/**
 * Starts MongoDB and Redis as `npm start` does, in a temporary directory that is gone afterwards.
 * @returns the exit code of `use`, or 1 after an error, which is printed.
 */
export async function withOwnDatabases(
  { durable }: { durable: boolean },
  use: (databases: OwnDatabases) => Promise<number>,
): Promise<number> {
  const localDir = fs.mkdtempSync(path.join(os.tmpdir(), 'topup-test-'));
  const output = createOutput(path.join(localDir, 'logs'));
  const supervisor = createSupervisor({ localDir, output, changed: () => undefined });
  whenAskedToStop((reason) => {
    output.say(`${reason}: stopping …`);
    void supervisor.stopAll();
  });
  try {
    const context = { env: { ...process.env, NODE_ENV: 'test' }, supervisor, durable };
    const [mongodb, redis] = await Promise.all([resolveMongodb(context), resolveRedis(context)]);
    const tmpdir = path.join(localDir, 'tmp');
    fs.mkdirSync(tmpdir);
    return await use({
      env: {
        ...process.env,
        NODE_ENV: 'test',
        APP_MODE: 'sandbox',
        LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'error',
        LOCAL_DIR: localDir,
        // What is written on the way goes with the rest.
        TMPDIR: tmpdir,
        MONGODB_URI: mongodb.url,
        REDIS_URL: redis.url,
      },
      localDir,
      used: `${mongodb.used}; ${redis.used}`,
      stopping: supervisor.stopping,
      node: (args, options) => runNode(args, options, supervisor.stopping),
    });
  } catch (error) {
    console.error(error instanceof PlainError ? `\n${error.message}\n` : error);
    return 1;
  } finally {
    await supervisor.stopAll();
    output.close();
    fs.rmSync(localDir, { recursive: true, force: true });
  }
}

async function runNode(
  args: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
  stopping: AbortSignal,
): Promise<number> {
  const child = spawn(process.execPath, args, { ...options, stdio: 'inherit' });
  const stop = () => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), childStopMs).unref();
  };
  stopping.addEventListener('abort', stop);
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('exit', (code, signal) => {
      resolve(code ?? 128 + os.constants.signals[signal ?? 'SIGTERM']);
    });
  });
  stopping.removeEventListener('abort', stop);
  return exitCode;
}
