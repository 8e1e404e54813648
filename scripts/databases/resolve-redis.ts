/** Finds or starts a Redis with the first option that works on this machine. */
import fs from 'node:fs';
import path from 'node:path';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { pidFile } from '../supervisor/pid-files.js';
import { PlainError } from '../supervisor/plain-error.js';
import { findOnPath, runCommand } from './commands.js';
import {
  tryInOrder,
  refuseInProduction,
  hidePassword,
  type Database,
  type DatabaseContext,
} from './database.js';
import {
  installRedisByApt,
  installRedisFromNpm,
  installRedisHint,
  findBuiltProgram,
} from './install-redis.js';
import { choosePort } from './ports.js';
import { checkRedis, hasKeys, redisVersion, waitForRedis } from './redis-checks.js';
import { limitedSignal } from '../supervisor/limited-signal.js';

const configuredTimeoutMs = 5_000;
/** Default of QUEUE_PREFIX (config/env.ts). */
const defaultPrefix = 'topup';
const versionTimeoutMs = 5_000;
/** Minimum version that BullMQ requires. */
const versionMin = [6, 2];

/**
 * Tries `REDIS_URL`, redis-server or valkey-server on PATH, and a build of an earlier start. With
 * the user's consent, it also tries a server at the default address, an installation by apt-get and
 * a build by redis-memory-server.
 * @throws PlainError with the install command for this system.
 */
export async function resolveRedis(
  context: DatabaseContext,
  usualUrl = 'redis://127.0.0.1:6379',
): Promise<Database> {
  const configuredUrl = context.env['REDIS_URL'];
  if (configuredUrl !== undefined && configuredUrl !== '') {
    return checkConfigured(configuredUrl, context);
  }
  refuseInProduction(context.env, 'REDIS_URL');
  const atUsualAddress = (stepContext: DatabaseContext) => findListening(usualUrl, stepContext);
  const found = await tryInOrder(
    [startFromPath, findBuiltRedis, atUsualAddress, startFromApt, fromNpm],
    context,
  );
  if (found === null) {
    throw new PlainError(
      `No usable Redis was found; the reasons are above. Install one and try again:\n` +
        `  ${installRedisHint(context.env)}\n` +
        `or let npm start install one:\n` +
        `  npm start -- --install-redis     (for npm test and others: INSTALL_REDIS=1 in the environment)\n` +
        `or set REDIS_URL to the address of a running Redis.`,
    );
  }
  return found;
}

async function checkConfigured(url: string, { supervisor }: DatabaseContext): Promise<Database> {
  const { stopping, output } = supervisor;
  const shown = hidePassword(url);
  try {
    await waitForRedis(url, limitedSignal(stopping, configuredTimeoutMs));
  } catch (error) {
    stopping.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new PlainError(
      `REDIS_URL is set, but there is no usable Redis at ${shown} (${reason}).\nStart it, correct the address, or unset REDIS_URL.`,
      { cause: error },
    );
  }
  for (const warning of await checkRedis(url)) {
    output.say(`Redis: ${warning}`);
  }
  return { url, used: `REDIS_URL (${shown})` };
}

async function startFromPath(context: DatabaseContext): Promise<Database | null> {
  for (const name of ['redis-server', 'valkey-server']) {
    const program = findOnPath(name, context.env);
    const started = program === null ? null : await tryServer(program, `${name} on PATH`, context);
    if (started !== null) {
      return started;
    }
  }
  context.supervisor.output.say('Redis: no usable redis-server or valkey-server on PATH');
  return null;
}

async function findBuiltRedis(context: DatabaseContext): Promise<Database | null> {
  const program = findBuiltProgram(context);
  return program === null ? null : tryServer(program, 'redis-memory-server', context);
}

/** Uses a server that somebody else started. Writing to such a server needs consent. */
async function findListening(
  url: string,
  { env, supervisor, confirm }: DatabaseContext,
): Promise<Database | null> {
  const { output, stopping } = supervisor;
  const prefix = env['QUEUE_PREFIX'] || defaultPrefix;
  let version: string;
  let warnings: string[];
  try {
    version = await redisVersion(url);
    warnings = await checkRedis(url);
    if (await hasKeys(url, prefix)) {
      warnings.push(
        `it already holds keys under ${prefix}:, perhaps of another copy (QUEUE_PREFIX sets another prefix)`,
      );
    }
  } catch (error) {
    stopping.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    if (!reason.includes('ECONNREFUSED')) {
      output.say(`Redis: the server at ${url} cannot be used (${reason})`);
    }
    return null;
  }
  if (isTooOld(version)) {
    output.say(`Redis: the one at ${url} has version ${version}; ${versionMin.join('.')} or newer is needed`);
    return null;
  }
  warnings.forEach((each) => {
    output.say(`Redis: at ${url}, ${each}`);
  });
  if (confirm === undefined) {
    output.say(
      `Redis: not using the server at ${url}, because nobody confirmed it. To use it, set REDIS_URL=${url}`,
    );
    return null;
  }
  return (await confirm(`A Redis ${version} already runs at ${url}. Use it, with keys under "${prefix}:"?`))
    ? { url, used: `the server that already ran at ${url}` }
    : null;
}

async function startFromApt(context: DatabaseContext): Promise<Database | null> {
  const program = await installRedisByApt(context);
  return program === null ? null : tryServer(program, 'redis-server, installed by apt-get', context);
}

async function fromNpm(context: DatabaseContext): Promise<Database | null> {
  const program = await installRedisFromNpm(context);
  return program === null ? null : tryServer(program, 'redis-memory-server', context);
}

async function tryServer(program: string, used: string, context: DatabaseContext): Promise<Database | null> {
  const { output, stopping } = context.supervisor;
  try {
    await checkVersion(program, context);
    output.say(`Redis: starting ${used}`);
    return { url: await startServer(program, context), used };
  } catch (error) {
    stopping.throwIfAborted();
    output.say(`Redis: ${program} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

async function checkVersion(program: string, { env, supervisor }: DatabaseContext): Promise<void> {
  const text = await runCommand(program, ['--version'], {
    env,
    signal: supervisor.stopping,
    limitMs: versionTimeoutMs,
    line: () => undefined,
  });
  const version = /v=(\d+\.\d+)/.exec(text)?.[1] ?? '';
  if (isTooOld(version)) {
    throw new Error(`version ${version} is too old, ${versionMin.join('.')} or newer is needed`);
  }
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = versionMin;
  return major < majorMin || (major === majorMin && minor < minorMin);
}

/**
 * Starts a server on a free port, without eviction and with an append-only file, so that queued
 * jobs survive a restart.
 */
async function startServer(program: string, { supervisor }: DatabaseContext): Promise<string> {
  const { localDir } = supervisor;
  const dataDir = path.join(localDir, 'redis');
  fs.mkdirSync(dataDir, { recursive: true });
  const port = await choosePort(localDir, 'redis');
  const url = `redis://127.0.0.1:${port}`;
  await supervisor.start({
    name: 'redis',
    tier: 'database',
    args: [
      getBuiltProgramPath('scripts/supervisor/guard.js'),
      pidFile(localDir, 'redis-program'),
      program,
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      dataDir,
      '--appendonly',
      'yes',
      '--appendfsync',
      'everysec',
      '--save',
      '',
      '--maxmemory-policy',
      'noeviction',
      // With an unchanged command line, a later start can identify the server.
      '--set-proc-title',
      'no',
    ],
    whenReady: (signal) => waitForRedis(url, signal),
  });
  return url;
}
