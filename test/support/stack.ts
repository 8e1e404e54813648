/**
 * A copy of the service for one test file: its own database, queue prefix, simulator and inbox, and the real
 * processes, so that a test may kill any of them without touching another test.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient, type Db } from 'mongodb';
import { limits } from '../../config/limits.js';
import { startInbox, type RunningInbox } from './inbox.js';
import { runToEnd } from './run-to-end.js';
import { startProgram, type RunningProgram } from './start-program.js';
import { startSimulator, type RunningSimulator } from './simulator.js';

export interface Stack {
  /** Of the web process that was started first. */
  baseUrl: string;
  /** That one; null: none was asked for. */
  web: RunningProgram | null;
  db: Db;
  env: NodeJS.ProcessEnv;
  simulator: RunningSimulator;
  inbox: RunningInbox;
  startWorker(...kinds: string[]): Promise<RunningProgram>;
  startWeb(env?: NodeJS.ProcessEnv): Promise<RunningProgram>;
  /** The demo accounts and catalogue: username -> key and secret. */
  seed(): Promise<Record<string, SeededAccount>>;
  stop(): Promise<void>;
}

/** As the seed prints it; the operator `admin` has a password in place of key and secret. */
export interface SeededAccount {
  username: string;
  api_key: string;
  webhook_secret: string;
  password?: string;
}

/** @param options.workers Kinds of workers to start at once, one process for all of them; none by default. */
export async function startStack(
  options: { workers?: string[]; web?: boolean; env?: NodeJS.ProcessEnv } = {},
): Promise<Stack> {
  const id = randomUUID().slice(0, 8);
  const [simulator, inbox] = await Promise.all([startSimulator(), startInbox()]);
  const uri = databaseUri(`test_${id}`, options.env?.['MONGODB_URI'] ?? process.env['MONGODB_URI']);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_ENV: 'test',
    QUEUE_PREFIX: `test-${id}`,
    SIMULATOR_URL: simulator.url,
    INBOX_URL: inbox.url,
    MONGODB_POOL_SIZE: '40',
    ...options.env,
    MONGODB_URI: uri,
  };
  // By a name of its own: the test itself meets no fault that it plays (mongo-faults.ts).
  const client = await new MongoClient(uri, { appName: 'test' }).connect();
  const programs: RunningProgram[] = [];

  async function start(script: string, args: string[], extra: NodeJS.ProcessEnv = {}) {
    const program = await startProgram(script, args, { ...env, ...extra });
    programs.push(program);
    return program;
  }
  const startWeb: Stack['startWeb'] = (extra = {}) => start('src/server.js', [], { PORT: '0', ...extra });

  await runToEnd('scripts/migrate.js', [], env);
  const [web] = await Promise.all([
    options.web === false ? null : startWeb(),
    options.workers ? start('workers/run.js', options.workers) : null,
  ]);
  return {
    baseUrl: web?.url ?? '',
    web,
    db: client.db(),
    env,
    simulator,
    inbox,
    startWorker: (...kinds) => start('workers/run.js', kinds),
    startWeb,
    async seed() {
      const printed = await runToEnd('scripts/seed.js', ['--json'], env);
      // A test asks again and again until something is so; only one about the limit itself may be stopped by it.
      await client
        .db()
        .collection('accounts')
        .updateMany({ rateLimit: limits.rateLimitDefault }, { $set: { rateLimit: 1_000_000 } });
      return (JSON.parse(printed) as { accounts: Awaited<ReturnType<Stack['seed']>> }).accounts;
    },
    async stop() {
      await Promise.all(programs.map((each) => each.stop()));
      await Promise.all([simulator.stop(), inbox.stop(), client.db().dropDatabase()]);
      await client.close();
    },
  };
}

/** The address of a database of this name on the server that the test, or all tests, were given. */
function databaseUri(name: string, given: string | undefined): string {
  if (!given) {
    throw new Error('MONGODB_URI is not set: run the tests with npm test');
  }
  const uri = new URL(given);
  uri.pathname = `/${name}`;
  uri.searchParams.set('appName', name);
  return uri.toString();
}
