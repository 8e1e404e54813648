/** Starts a copy: databases, data and processes. */
import fs from 'node:fs';
import path from 'node:path';
import type { Database } from '../databases/database.js';
import { choosePort } from '../databases/ports.js';
import { resolveMongodb } from '../databases/resolve-mongodb.js';
import { resolveRedis } from '../databases/resolve-redis.js';
import type { Supervisor } from '../supervisor/supervisor.js';
import { writeAdminPassword, readAdminPassword } from './admin-password.js';
import type { DemoAccount, DemoFile } from './demo-file.js';
import { baseUrlOf, listenAddress } from './listen-address.js';
import { playgroundSpecs, serviceSpecs } from './processes.js';

export interface RunningService {
  mongodb: Database;
  redis: Database;
  /** Listen address of the web process. */
  address: string;
  /** True if this start created the console password. */
  hasNewPassword: boolean;
  /** Content of demo.json without the processes, which can change. */
  facts: Omit<DemoFile, 'processes'>;
}

/** Resolves when every process is ready. Rejects if one fails to start or the supervisor stops. */
export async function runService(options: {
  env: NodeJS.ProcessEnv;
  port: number;
  supervisor: Supervisor;
  /** Asks the user at the terminal. Absent if there is no terminal. */
  confirm?: (question: string) => Promise<boolean>;
}): Promise<RunningService> {
  const { env, port, supervisor, confirm } = options;
  const { localDir, output } = supervisor;
  const context = { env, supervisor, durable: true, ...(confirm && { confirm }) };
  const [mongodb, redis] = await Promise.all([resolveMongodb(context), resolveRedis(context)]);
  // Production has no demo accounts and no simulator.
  const playground = env['NODE_ENV'] === 'production' ? null : await playgroundAddresses(localDir);
  const address = listenAddress(env);
  const baseUrl = baseUrlOf(address, port);
  const childEnv = {
    LOCAL_DIR: localDir,
    PORT: String(port),
    LISTEN_ADDRESS: address,
    MONGODB_URI: mongodb.url,
    REDIS_URL: redis.url,
    ...(playground && { SIMULATOR_URL: playground.simulatorUrl, INBOX_URL: playground.inboxUrl }),
  };

  output.say('Preparing collections and indexes …');
  await supervisor.run({ name: 'migrate', args: ['dist/scripts/migrate.js'], env: childEnv });
  const passwordBefore = readAdminPassword(localDir);
  const accounts = playground === null ? {} : await startPlayground(supervisor, playground, childEnv);

  output.say('Starting the service …');
  await Promise.all(serviceSpecs(childEnv, env['METRICS_PORT']).map((spec) => supervisor.start(spec)));
  if (playground !== null) {
    // Not awaited, because the service is usable before the suppliers' products are imported.
    void furnishSandbox(supervisor, childEnv);
  }
  return {
    mongodb,
    redis,
    address,
    hasNewPassword: passwordBefore === undefined,
    facts: {
      base_url: baseUrl,
      simulator_url: playground?.simulatorUrl ?? null,
      inbox_url: playground?.inboxUrl ?? null,
      mongodb_uri: mongodb.url,
      redis_url: redis.url,
      accounts,
    },
  };
}

interface Playground {
  simulatorPort: number;
  simulatorUrl: string;
  inboxPort: number;
  inboxUrl: string;
  inboxSecretsFile: string;
}

async function playgroundAddresses(localDir: string): Promise<Playground> {
  const simulatorPort = await choosePort(localDir, 'simulator');
  const inboxPort = await choosePort(localDir, 'inbox');
  return {
    simulatorPort,
    simulatorUrl: `http://127.0.0.1:${simulatorPort}`,
    inboxPort,
    inboxUrl: `http://127.0.0.1:${inboxPort}`,
    inboxSecretsFile: path.join(localDir, 'inbox-secrets.json'),
  };
}

/**
 * Starts the simulator and the inbox. Demo data is created first, because the inbox verifies
 * signatures with the accounts' secrets.
 */
async function startPlayground(
  supervisor: Supervisor,
  playground: Playground,
  env: Record<string, string>,
): Promise<Record<string, DemoAccount>> {
  supervisor.output.say('Preparing demo accounts and products …');
  const known = readAdminPassword(supervisor.localDir);
  const written = await supervisor.run({
    name: 'seed',
    args: ['dist/scripts/seed.js', '--json'],
    env: { ...env, ...(known !== undefined && { ADMIN_PASSWORD: known }) },
  });
  const accounts = parseAccounts(written);
  const made = accounts['admin']?.password;
  if (known === undefined && made !== undefined) {
    writeAdminPassword(supervisor.localDir, made);
  }
  const secrets = Object.entries(accounts).flatMap(([name, { webhook_secret: secret }]) =>
    secret === undefined ? [] : [[name, secret]],
  );
  fs.writeFileSync(playground.inboxSecretsFile, JSON.stringify(Object.fromEntries(secrets)), { mode: 0o600 });
  await Promise.all(playgroundSpecs({ ...playground, env }).map((spec) => supervisor.start(spec)));
  return accounts;
}

/** First words of the line in which furnish.js prints its result. */
const furnishResult = 'Products of the suppliers';

/** Imports the suppliers' products. A service without them still runs, so a failure stops nothing. */
async function furnishSandbox(supervisor: Supervisor, env: Record<string, string>): Promise<void> {
  try {
    const written = await supervisor.run({ name: 'furnish', args: ['dist/scripts/furnish.js'], env });
    const result = written.split('\n').findLast((line) => line.startsWith(furnishResult));
    if (result !== undefined) {
      supervisor.output.say(result);
    }
  } catch (error) {
    if (!supervisor.stopping.aborted) {
      const cause = error instanceof Error ? error.message : String(error);
      supervisor.output.say(`The suppliers' products are missing; the next start tries again. ${cause}`);
    }
  }
}

/** Finds the result of the seed among other log lines. */
function parseAccounts(written: string): Record<string, DemoAccount> {
  for (const line of written.split('\n')) {
    if (line.startsWith('{"accounts":')) {
      return (JSON.parse(line) as { accounts: Record<string, DemoAccount> }).accounts;
    }
  }
  throw new Error('dist/scripts/seed.js --json did not print the accounts');
}
