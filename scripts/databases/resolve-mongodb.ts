/** Finds or starts a MongoDB with the first option that works on this machine. */
import fs from 'node:fs';
import path from 'node:path';
import { limits } from '../../config/limits.js';
import { projectRoot } from '../../config/project-file.js';
import { PlainError } from '../supervisor/plain-error.js';
import { findOnPath } from './commands.js';
import {
  tryInOrder,
  refuseInProduction,
  hidePassword,
  type Database,
  type DatabaseContext,
  type Step,
} from './database.js';
import { downloadMongod } from './download-mongod.js';
import { mongodDataDir, startMongod } from './mongod.js';
import { waitForHello, type Hello } from './mongodb-hello.js';
import { choosePort } from './ports.js';
import { limitedSignal } from '../supervisor/limited-signal.js';

const configuredTimeoutMs = 5_000;

/**
 * Tries `MONGODB_URI`, `mongod` on PATH, a downloaded `mongod`, and the embedded development
 * server.
 * @throws PlainError with instructions.
 */
export async function resolveMongodb(context: DatabaseContext): Promise<Database> {
  const configuredUrl = context.env['MONGODB_URI'];
  if (configuredUrl !== undefined && configuredUrl !== '') {
    return checkConfigured(configuredUrl, context);
  }
  refuseInProduction(context.env, 'MONGODB_URI');
  const found = await tryInOrder(getSteps(context), context);
  if (found === null) {
    throw new PlainError(
      'No MongoDB could be started here; the reasons are above. Set MONGODB_URI to the address of a replica set.',
    );
  }
  return found;
}

/**
 * Prefers an installed program, then a download, then the embedded server. A copy whose data is in
 * the embedded server continues to use it.
 */
function getSteps({ supervisor }: DatabaseContext): Step[] {
  const { localDir, output } = supervisor;
  if (hasFiles(embeddedDataDir(localDir)) && !hasFiles(mongodDataDir(localDir))) {
    output.say('MongoDB: this copy keeps its data in the embedded database (npm run reset deletes it)');
    return [startEmbedded, startFromPath, startDownloaded];
  }
  return [startFromPath, startDownloaded, startEmbedded];
}

async function checkConfigured(
  url: string,
  { env, supervisor: { stopping } }: DatabaseContext,
): Promise<Database> {
  const shown = hidePassword(url);
  const signal = limitedSignal(stopping, configuredTimeoutMs);
  let answer: Hello;
  try {
    answer = await waitForHello(url, () => true, signal);
  } catch (error) {
    stopping.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new PlainError(
      `MONGODB_URI is set, but there is no usable MongoDB at ${shown} (${reason}).\nStart it, correct the address, or unset MONGODB_URI.`,
      { cause: error },
    );
  }
  if (answer.setName === undefined && answer.msg !== 'isdbgrid') {
    throw new PlainError(
      `The MongoDB at ${shown} is not a replica set, and the service needs transactions. A single node is enough:\n` +
        'start mongod with --replSet rs0 and run rs.initiate() once.',
    );
  }
  return { url, used: `MONGODB_URI (${shown})`, mongod: findOnPath('mongod', env) };
}

async function startFromPath(context: DatabaseContext): Promise<Database | null> {
  const program = findOnPath('mongod', context.env);
  if (program === null) {
    context.supervisor.output.say('MongoDB: no mongod on PATH');
    return null;
  }
  return tryMongod(program, 'mongod on PATH', context);
}

async function startDownloaded(context: DatabaseContext): Promise<Database | null> {
  const program = await downloadMongod(context);
  return program === null ? null : tryMongod(program, 'mongod downloaded by mongodb-memory-server', context);
}

async function tryMongod(program: string, used: string, context: DatabaseContext): Promise<Database | null> {
  const { output, stopping } = context.supervisor;
  output.say(`MongoDB: starting ${used}`);
  try {
    return { url: await startMongod(program, context), used, mongod: program };
  } catch (error) {
    stopping.throwIfAborted();
    output.say(
      `MongoDB: ${program} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
    return null;
  }
}

async function startEmbedded({ supervisor, durable }: DatabaseContext): Promise<Database> {
  const { localDir, output } = supervisor;
  output.say('MongoDB: starting the embedded development server (packages/embedded-mongo)');
  const dataDir = embeddedDataDir(localDir);
  fs.mkdirSync(dataDir, { recursive: true });
  const port = await choosePort(localDir, 'mongodb');
  await supervisor.start({
    name: 'mongodb',
    tier: 'database',
    args: [
      path.join(projectRoot, 'packages/embedded-mongo/bin/embedded-mongo.mjs'),
      '--port',
      String(port),
      '--dbpath',
      dataDir,
      // A server that is not durable is used only for tests. Tests set lock lifetimes themselves
      // and must tolerate majority lag.
      ...(durable
        ? ['--lock-lifetime', String(limits.lockLifetimeAdvisedS)]
        : ['--no-fsync', '--majority-lag', '0-30']),
    ],
    whenReady: async (signal) => {
      const url = `mongodb://127.0.0.1:${port}/?directConnection=true`;
      await waitForHello(url, (answer) => answer.isWritablePrimary === true, signal);
    },
  });
  return {
    url: `mongodb://127.0.0.1:${port}/topup?replicaSet=rs0`,
    used: 'embedded development server (for development and tests, not for production)',
  };
}

function embeddedDataDir(localDir: string): string {
  return path.join(localDir, 'embedded-mongo');
}

function hasFiles(dir: string): boolean {
  return fs.existsSync(dir) && fs.readdirSync(dir).length > 0;
}
