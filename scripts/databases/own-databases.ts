import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createOutput } from '../supervisor/output.js';
import { PlainError } from '../supervisor/plain-error.js';
import { createSupervisor, type Supervisor } from '../supervisor/supervisor.js';
import { onStopRequest } from '../supervisor/on-stop-request.js';
import { resolveMongodb } from './resolve-mongodb.js';
import { resolveRedis } from './resolve-redis.js';

const childStopMs = 10_000;

/** Temporary databases, and the means to run programs on them. */
export interface OwnDatabases {
  /** Environment for processes: the first pair of `pairs`, LOCAL_DIR, TMPDIR and the test mode. */
  env: NodeJS.ProcessEnv;
  pairs: DatabasePair[];
  /** Directory that is deleted at the end. */
  localDir: string;
  /** A description of the two databases. */
  used: string;
  /** Aborted when the user stops the program. */
  stopping: AbortSignal;
  /**
   * Runs Node with these arguments. The child stops no later than this process.
   * @returns The child's exit code.
   */
  node: (args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }) => Promise<number>;
}

/** Addresses of one MongoDB and one Redis, as environment variables. */
export interface DatabasePair {
  MONGODB_URI: string;
  REDIS_URL: string;
}

/**
 * Starts MongoDB and Redis as `npm start` does, in a temporary directory that is deleted at the
 * end.
 * @param options.pairs Number of separate pairs, for parallel work.
 * @returns The exit code of `use`. 1 after printing an error.
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
  onStopRequest((reason) => {
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
    // The first start detects the databases of this machine, and may install Redis.
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
        // Temporary files are deleted together with the directory.
        TMPDIR: tmpdir,
        ...pair,
        // For tests that kill their own database.
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
