/**
 * Runs a `mongod` of this machine as a replica set with one node, because transactions need a
 * replica set.
 */
import fs from 'node:fs';
import path from 'node:path';
import { limits } from '../../config/limits.js';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { pidFile } from '../supervisor/pid-files.js';
import type { DatabaseContext } from './database.js';
import { waitForHello, withAdmin } from './mongodb-hello.js';
import { choosePort } from './ports.js';

const alreadyInitializedCode = 23;

/**
 * Starts the program and makes it primary. Rejects with the program's last output on failure.
 * @returns The address.
 */
export async function startMongod(program: string, { supervisor }: DatabaseContext): Promise<string> {
  const { localDir } = supervisor;
  const dataDir = mongodDataDir(localDir);
  fs.mkdirSync(dataDir, { recursive: true });
  const port = await choosePort(localDir, 'mongodb');
  const host = `127.0.0.1:${port}`;
  await supervisor.start({
    name: 'mongodb',
    tier: 'database',
    args: [
      getBuiltProgramPath('scripts/supervisor/guard.js'),
      pidFile(localDir, 'mongodb-program'),
      program,
      ...mongodArgs({
        port,
        dataDir,
        logFile: path.join(localDir, 'logs', 'mongod.log'),
        lockLifetimeS: limits.lockLifetimeAdvisedS,
      }),
    ],
    whenReady: (signal) => becomePrimary(host, signal),
  });
  return `mongodb://${host}/topup?replicaSet=rs0`;
}

/** Returns the arguments of a replica set member. */
export function mongodArgs(options: {
  port: number;
  dataDir: string;
  logFile: string;
  /** Maximum lifetime of a transaction in seconds. By default 60, as in MongoDB. */
  lockLifetimeS?: number;
}): string[] {
  const { port, dataDir, logFile, lockLifetimeS } = options;
  return [
    '--replSet',
    'rs0',
    '--bind_ip',
    '127.0.0.1',
    '--port',
    String(port),
    '--dbpath',
    dataDir,
    ...(lockLifetimeS === undefined
      ? []
      : ['--setParameter', `transactionLifetimeLimitSeconds=${lockLifetimeS}`]),
    '--quiet',
    '--logpath',
    logFile,
    '--logappend',
  ];
}

export function mongodDataDir(localDir: string): string {
  return path.join(localDir, 'mongodb');
}

/** Initiates a replica set if there is none. Resolves when the server is primary. */
export async function becomePrimary(host: string, signal: AbortSignal): Promise<void> {
  const url = `mongodb://${host}/?directConnection=true`;
  const first = await waitForHello(url, () => true, signal);
  const members = [{ _id: 0, host }];
  if (first.setName === undefined) {
    await withAdmin(url, async (command) => {
      try {
        await command({ replSetInitiate: { _id: 'rs0', members } });
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === alreadyInitializedCode)) {
          throw error;
        }
        // The data was written by a start with another port, so the only member now has a new
        // address.
        const { config } = (await command({ replSetGetConfig: 1 })) as { config: { version: number } };
        await command({
          replSetReconfig: { ...config, version: config.version + 1, members },
          force: true,
        });
      }
    });
  }
  await waitForHello(url, (answer) => answer.isWritablePrimary === true, signal);
}
