/**
 * A copy of the service for one test file, with its own database, queue prefix, simulator and
 * inbox, and with real processes. A test may kill any of the processes without affecting other
 * tests.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient, type Db } from 'mongodb';
import { limits } from '../../config/limits.js';
import { startInbox, type RunningInbox } from './inbox.js';
import { runToEnd } from './run-to-end.js';
import { startProgram, type RunningProgram } from './start-program.js';
import { startSimulator, type RunningSimulator } from './simulator.js';

export interface Stack {
  /** URL of the first web process. */
  baseUrl: string;
  /** The first web process. Null if none was requested. */
  web: RunningProgram | null;
  db: Db;
  env: NodeJS.ProcessEnv;
  simulator: RunningSimulator;
  inbox: RunningInbox;
  startWorker(...kinds: string[]): Promise<RunningProgram>;
  startWeb(env?: NodeJS.ProcessEnv): Promise<RunningProgram>;
  /** Creates the demo accounts and catalogue. Returns the accounts by username. */
  seed(): Promise<Record<string, SeededAccount>>;
  stop(): Promise<void>;
}

/**
 * A demo account, as the seed script prints it. The operator `admin` has a password instead of a
 * key and a secret.
 */
export interface SeededAccount {
  username: string;
  api_key: string;
  webhook_secret: string;
  password?: string;
}

/**
 * Starts a stack.
 * @param options.workers The kinds of work to run in one worker process. Default: no worker.
 */
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
  // This client has its own appName, so that faults do not affect it (mongo-faults.ts).
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
      // Raise the rate limits, because tests poll. Tests of the rate limit set their own.
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

/** Returns the URI of the named database on the server of `given`. */
function databaseUri(name: string, given: string | undefined): string {
  if (!given) {
    throw new Error('MONGODB_URI is not set: run the tests with npm test');
  }
  const uri = new URL(given);
  uri.pathname = `/${name}`;
  uri.searchParams.set('appName', name);
  return uri.toString();
}
