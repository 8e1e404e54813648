import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createOutput } from '../supervisor/output.js';
import { PlainError } from '../supervisor/plain-error.js';
import { createSupervisor, type Supervisor } from '../supervisor/supervisor.js';
import { whenAskedToStop } from '../supervisor/when-asked-to-stop.js';
import { resolveMongodb } from './resolve-mongodb.js';
import { resolveRedis } from './resolve-redis.js';

const childStopMs = 10_000;

/** What runs on databases of its own. */
export interface OwnDatabases {
  /** For the processes that use them: the first of `pairs`, LOCAL_DIR, TMPDIR and the mode for tests. */
  env: NodeJS.ProcessEnv;
  pairs: DatabasePair[];
  /** The directory that is gone afterwards. */
  localDir: string;
  /** The two databases, in words. */
  used: string;
  /** Aborted when the person at the terminal wants to stop. */
  stopping: AbortSignal;
  /** Runs Node with these arguments, ended in order when we are. @returns its exit code. */
  node: (args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }) => Promise<number>;
}

/** The addresses of one MongoDB and one Redis, as processes read them. */
export interface DatabasePair {
  MONGODB_URI: string;
  REDIS_URL: string;
}

/**
 * Starts MongoDB and Redis as `npm start` does, in a temporary directory that is gone afterwards.
 * @param options.pairs how many of each, for work that must not wait for its neighbours.
 * @returns the exit code of `use`, or 1 after an error, which is printed.
 */
export async function withOwnDatabases(
  { durable, pairs: count = 1 }: { durable: boolean; pairs?: number },
  use: (databases: OwnDatabases) => Promise<number>,
): Promise<number> {
  const localDir = fs.mkdtempSync(path.join(os.tmpdir(), 'topup-test-'));
  const output = createOutput(path.join(localDir, 'logs'));
  const first = createSupervisor({ localDir, output, changed: () => undefined });
  const others = Array.from({ length: count - 1 }, (_, n) => {
    const quiet = createOutput(path.join(localDir, `pair-${n + 2}`, 'logs'), () => undefined);
    return createSupervisor({
      localDir: path.join(localDir, `pair-${n + 2}`),
      output: quiet,
      changed: () => undefined,
    });
  });
  const stopAll = () => Promise.all([first, ...others].map((each) => each.stopAll()));
  whenAskedToStop((reason) => {
    output.say(`${reason}: stopping …`);
    void stopAll();
  });
  try {
    const start = async (supervisor: Supervisor) => {
      const context = { env: { ...process.env, NODE_ENV: 'test' }, supervisor, durable };
      const [mongodb, redis] = await Promise.all([resolveMongodb(context), resolveRedis(context)]);
      return {
        pair: { MONGODB_URI: mongodb.url, REDIS_URL: redis.url },
        used: `${mongodb.used}; ${redis.used}`,
        mongod: mongodb.mongod,
      };
    };
    // The first finds out what this machine has, and may install it.
    const { pair, used, mongod } = await start(first);
    const pairs = [pair, ...(await Promise.all(others.map(start))).map((each) => each.pair)];
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
        ...pair,
        // For tests that kill a database of their own.
        TEST_MONGOD: mongod ?? undefined,
      },
      pairs,
      localDir,
      used,
      stopping: first.stopping,
      node: (args, options) => runNode(args, options, first.stopping),
    });
  } catch (error) {
    console.error(error instanceof PlainError ? `\n${error.message}\n` : error);
    return 1;
  } finally {
    await stopAll();
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
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  stopping.removeEventListener('abort', stop);
  return code ?? 128 + os.constants.signals[signal ?? 'SIGTERM'];
}
