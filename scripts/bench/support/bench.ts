/**
 * Common parts of all benchmarks: separate databases, the meter, the service processes and the
 * final checks.
 */
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { MongoClient, type Db } from 'mongodb';
import { disconnectMongo } from '../../../src/database/mongo.js';
import { verifyLedger } from '../../../src/reconciliation/ledger/verify-ledger.js';
import { findFreePort } from '../../databases/ports.js';
import { call } from './calls.js';
import { createMeter, perOperation, type Cost, type Meter } from './meter.js';
import { numberOption } from './options.js';
import { requireTrue } from './print.js';
import { startProcess, stopProcesses, type RunningProcess } from './start-process.js';
import { product } from './bench-product.js';
import type { Load, LoadResult } from '../processes/load.js';

export interface Bench {
  meter: Meter;
  redis: Redis;
  client: MongoClient;
  /** The database of our service. */
  db: Db;
  /** The database of a yardstick. */
  yardstickUri(name: string): string;
  yardstickPrefix(name: string): string;
  prefix: string;
  uri: string;
}

const heapMb = numberOption('HEAP_MB', 0, 0);

/**
 * Environment with log settings as in production. `HEAP_MB` limits the heap to that of a small
 * machine.
 */
export const serviceEnv = {
  NODE_ENV: 'development',
  LOG_LEVEL: 'info',
  ...(heapMb > 0 && { NODE_OPTIONS: `--max-old-space-size=${heapMb}` }),
};

/** Runs a benchmark. Afterwards always stops its processes and drops its databases. */
export async function runBench(work: (bench: Bench) => Promise<void>): Promise<void> {
  const uri = process.env['MONGODB_URI'] ?? '';
  const prefix = process.env['QUEUE_PREFIX'] ?? '';
  const client = await new MongoClient(uri).connect();
  const redis = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
  const meter = await createMeter(uri, process.env['REDIS_URL'] ?? '');
  const yardsticks = new Set<string>();
  const bench: Bench = {
    meter,
    redis,
    client,
    db: client.db(),
    prefix,
    uri,
    yardstickUri(name) {
      const own = new URL(uri);
      own.pathname += `_${name}`;
      yardsticks.add(own.pathname.slice(1));
      return own.toString();
    },
    yardstickPrefix: (name) => `${prefix}-${name}`,
  };
  try {
    await work(bench);
  } finally {
    await stopProcesses();
    await deleteRedisKeys(bench);
    await Promise.all([...yardsticks].map((name) => client.db(name).dropDatabase()));
    await client.db().dropDatabase();
    await disconnectMongo();
    await Promise.all([client.close(), meter.close()]);
    redis.disconnect();
  }
}

/** Deletes all Redis keys of this benchmark at once, including those of yardsticks. */
export async function deleteRedisKeys({ redis, prefix }: Bench): Promise<void> {
  const script = `for _, key in ipairs(redis.call('keys', ARGV[1])) do redis.call('unlink', key) end`;
  await redis.eval(script, 0, `${prefix}*`);
}

export async function startWeb(env: NodeJS.ProcessEnv = {}): Promise<RunningProcess> {
  const port = String(await findFreePort());
  return startProcess({ name: 'web', script: 'src/server.js', env: { ...serviceEnv, ...env, PORT: port } });
}

export function startWorker(name: string, env: NodeJS.ProcessEnv = {}): Promise<RunningProcess> {
  return startProcess({ name, script: 'workers/run.js', args: [name], env: { ...serviceEnv, ...env } });
}

/** Starts a provider that executes orders immediately. */
export function startSimulator(): Promise<RunningProcess> {
  return startProcess({
    name: 'simulator',
    script: 'scripts/simulator/main.js',
    args: ['--port', '0', '--host', '127.0.0.1', '--secret', 'simulator-secret', '--seed', '1'],
  });
}

/** Starts a helper from scripts/bench/processes. */
export function startHelper(name: string, helper: string, args: string[] = []): Promise<RunningProcess> {
  return startProcess({ name, script: 'scripts/bench/main.js', args: [helper, ...args] });
}

/** Result of a load. The cost is per accepted purchase. */
export type LoadMeasurement = LoadResult & Cost;

/** Runs the load and measures its cost in these processes. */
export async function measureLoad(
  { meter }: Bench,
  load: RunningProcess,
  { processes, ...wanted }: Load & { processes: RunningProcess[] },
): Promise<LoadMeasurement> {
  const stop = await meter.start(processes);
  const result = await call<LoadResult>(load.child, wanted);
  return { ...perOperation(await stop(), result.accepted), ...result };
}

/** Totals that accepted purchases change. */
interface Books {
  purchases: number;
  debits: number;
  /** Sum of all wallet balances in rupiah. */
  balance: number;
}

async function readBooks(db: Db): Promise<Books> {
  const [sum] = await db
    .collection('wallets')
    .aggregate<{ balance: number }>([{ $group: { _id: null, balance: { $sum: '$balance' } } }])
    .toArray();
  return {
    purchases: await db.collection('transactions').countDocuments({}),
    debits: await db.collection('journals').countDocuments({ kind: 'purchase' }),
    balance: sum?.balance ?? 0,
  };
}

/**
 * Runs a load and checks the totals: each accepted call adds one purchase, one debit and its price.
 * A call that got a 503 may have succeeded, but only completely.
 * @param options.refusals Expected refusals by status. By default none.
 * @throws Error if a row is missing or duplicated.
 */
export async function withBooks<T extends LoadResult>(
  db: Db,
  work: () => Promise<T>,
  { refusals = {} }: { refusals?: Record<string, number> } = {},
): Promise<T> {
  const before = await readBooks(db);
  const result = await work();
  const after = await readBooks(db);
  const { accepted, refused } = result;
  const { '503': unknown = 0, ...others } = refused;
  const summary = `${accepted} accepted, refused ${JSON.stringify(refused)}`;
  const purchases = after.purchases - before.purchases;
  const debits = after.debits - before.debits;
  const paid = before.balance - after.balance;
  requireTrue(accepted > 0, `nothing was accepted (${summary})`);
  requireTrue(isDeepStrictEqual(others, refusals), `other refusals than expected (${summary})`);
  requireTrue(purchases >= accepted && purchases <= accepted + unknown, `${purchases} purchases, ${summary}`);
  requireTrue(debits === purchases, `${debits} debits, ${purchases} purchases`);
  requireTrue(
    paid === purchases * product.price,
    `the wallets paid ${paid} rupiah for ${purchases} purchases`,
  );
  return result;
}

/** @throws Error with the findings if a rule of docs/explanation/ledger.md is broken. */
export async function checkLedger(): Promise<void> {
  const report = await verifyLedger();
  const found = report.findings
    .slice(0, 5)
    .map(({ check, subject, message }) => `${check}: ${subject}: ${message}`);
  requireTrue(report.ok, `the ledger is broken\n${found.join('\n')}`);
  const { journals, transactions } = report.examined;
  console.log(`ledger verified: ${transactions} transactions, ${journals} journals, every rule holds`);
}
