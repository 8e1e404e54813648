/**
 * Two providers with one product each, at a share of the maximum rate. One provider fails,
 * recovers, hangs and recovers, while workers are killed. Measures the latency for the healthy
 * provider's buyers, the memory of every process and the keys left in Redis.
 */
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Execution } from '../simulator/order-book.js';
import type { LoadResult } from './processes/load.js';
import { checkLedger, runBench, startHelper, type Bench } from './support/bench.js';
import { call } from './support/calls.js';
import { product } from './support/bench-product.js';
import { fetchJson, configureSimulator } from './support/http.js';
import { isNearKill, killWorkers, type Kill } from './support/kill-workers.js';
import type { Cost } from './support/meter.js';
import { numberOption, shareOption } from './support/options.js';
import { buyingWorker, startOurs, startWorld, type Pipeline, type World } from './support/pipelines.js';
import { requireTrue, printGoal, printTable } from './support/print.js';
import { quantile } from './support/rounds.js';
import { openSeller } from './support/shop.js';
import { untilTrue } from './support/wait-until-true.js';

const troubledUsername = 'troubled';
const troubledCode = 'S10-TROUBLED';
const connections = 32;
const sampleEveryMs = 1_000;
const limitMs = 900_000;
const hangsMs = 600_000;

/** Phases, with their share of the whole duration. */
const phases = [
  { name: 'before', share: 0.2, behaviour: null },
  { name: 'one provider is down', share: 0.2, behaviour: { down: true } },
  { name: 'it has recovered', share: 0.15, behaviour: null },
  { name: 'it hangs', share: 0.25, behaviour: { latency_ms: hangsMs } },
  { name: 'it has recovered again', share: 0.2, behaviour: null },
] as const;

interface Phase {
  name: string;
  from: Date;
  until: Date;
  /** Cost of the databases and of the web process, which is not killed. */
  cost: Cost;
}

export async function benchTrouble(): Promise<void> {
  const seconds = numberOption('SECONDS', 600);
  const share = shareOption('SHARE', 0.7);
  const buyers = numberOption('ACCOUNTS', 100);
  const killEverySeconds = numberOption('KILL_EVERY', 15);
  const seed = numberOption('SEED', Math.floor(Math.random() * 1e9));
  await runBench(async (bench) => {
    const world = await startWorld({ buyers });
    await openSeller(troubledUsername, troubledCode);
    const ours = await startOurs(bench, world);
    const loads = { healthy: await startHelper('load', 'load'), troubled: await startHelper('load', 'load') };
    const base = { urls: [ours.web.url], buyersFile: world.shop.buyersFile, buyers, connections };
    const reached = await measureThroughput(ours, () =>
      call<LoadResult>(loads.healthy.child, { ...base, seconds: 600, purchases: 1_500, repeat: true }),
    );
    const perSecond = (share * reached) / 2;
    console.log(
      `${reached.toFixed()}/s reached; ${perSecond.toFixed()}/s of each product for ${seconds} s, SEED=${seed}`,
    );
    const memory = watchMemory(bench, ours);
    const killer = killWorkers(ours, { seed, everyMs: 1_000 * killEverySeconds, world });
    const [healthy, troubled, played] = await Promise.all([
      call<LoadResult>(loads.healthy.child, { ...base, seconds, perSecond, repeat: true }),
      call<LoadResult>(loads.troubled.child, { ...base, seconds, perSecond, code: troubledCode }),
      runPhases(bench, { ours, world, seconds }),
    ]);
    const kills = await killer.stop();
    await untilTrue({ everyMs: 500, limitMs, what: 'every purchase is final and delivered' }, () =>
      ours.isDone(),
    );
    memory.stop();
    const summarize = ({ accepted, refused, repeated }: LoadResult) =>
      `${accepted} accepted, refused ${JSON.stringify(refused)}, ${repeated} repeated`;
    console.log(
      `${kills.length} workers killed; healthy: ${summarize(healthy)}; troubled: ${summarize(troubled)}`,
    );
    const p95 = await printPhases(bench, played, kills);
    printCosts(played);
    memory.print();
    await printRedis(bench);
    printGoal('p95 to final during trouble, relative to calm phases, while no buying worker was down', {
      goal: 2,
      reached: Math.max(...compareWithCalmPhases(p95)),
      unit: 'x',
      wanted: 'at most',
    });
    await checkExecutions(bench, world);
    await checkLedger();
  });
}

/**
 * Returns the p95 of each phase of trouble, relative to the mean of the calm phases around it. The
 * comparison is relative, because the growing database makes each phase slower than the one before.
 */
function compareWithCalmPhases(p95: number[]): number[] {
  return phases.flatMap(({ behaviour }, place) => {
    const around = ((p95[place - 1] ?? NaN) + (p95[place + 1] ?? NaN)) / 2;
    return behaviour === null ? [] : [(p95[place] ?? NaN) / around];
  });
}

async function measureThroughput(ours: Pipeline, buy: () => Promise<LoadResult>): Promise<number> {
  const startedMs = performance.now();
  const { accepted } = await buy();
  await untilTrue({ everyMs: 250, limitMs, what: 'every purchase is delivered' }, () => ours.isDone());
  return (1_000 * accepted) / (performance.now() - startedMs);
}

async function runPhases(
  { meter }: Bench,
  { ours, world, seconds }: { ours: Pipeline; world: World; seconds: number },
): Promise<Phase[]> {
  const played: Phase[] = [];
  for (const { name, share, behaviour } of phases) {
    await configureSimulator(world.simulator, { providers: { [troubledUsername]: behaviour } });
    const from = new Date();
    const stop = await meter.start([ours.web]);
    await pause(1_000 * seconds * share);
    played.push({ name, from, until: new Date(), cost: await stop() });
  }
  return played;
}

/** Tracks the peak resident memory of each process and the peak memory of Redis. */
function watchMemory({ redis }: Bench, ours: Pipeline): { stop(): void; print(): void } {
  const most = new Map<string, number>();
  const see = (name: string, bytes: number) => most.set(name, Math.max(most.get(name) ?? 0, bytes));
  const timer = setInterval(() => {
    for (const { name, pid } of ours.processes) {
      see(name, residentBytes(pid));
    }
    void redis.info('memory').then((info) => see('Redis', Number(/^used_memory:(\d+)/m.exec(info)?.[1])));
  }, sampleEveryMs);
  return {
    stop: () => clearInterval(timer),
    print() {
      printTable(
        ['process', 'peak MB'],
        [...most].map(([name, bytes]) => [name, bytes / 1e6]),
      );
    },
  };
}

/** Returns the resident memory in bytes, or 0 for a process that has just ended. */
function residentBytes(pid: number): number {
  try {
    const [, pages = '0'] = fs.readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    return 4_096 * Number(pages);
  } catch {
    return 0;
  }
}

/**
 * @returns The p95 from acceptance to the final state for the healthy provider, in milliseconds,
 * for each phase. Purchases accepted while a buying worker was down do not count.
 */
async function printPhases({ db }: Bench, played: Phase[], kills: Kill[]): Promise<number[]> {
  const transactions = db.collection<{ productCode: string; status: string; createdAt: Date; finalAt: Date }>(
    'transactions',
  );
  const rows = await Promise.all(
    played.map(async ({ name, from, until }) => {
      const bought = await transactions.find({ createdAt: { $gte: from, $lt: until } }).toArray();
      const timesOf = (code: string, isCounted: (at: Date) => boolean = () => true) =>
        bought
          .filter(({ productCode, createdAt }) => productCode === code && isCounted(createdAt))
          .map(({ createdAt, finalAt }) => finalAt.getTime() - createdAt.getTime());
      const healthy = timesOf(product.code);
      const quiet = timesOf(product.code, (at) => !isNearKill(kills, buyingWorker, at));
      const troubled = timesOf(troubledCode);
      const failed = bought.filter(
        ({ productCode, status }) => productCode === troubledCode && status === 'FAILED',
      );
      const killed = kills.filter((kill) => kill.name === buyingWorker && kill.at >= from && kill.at < until);
      return [
        name,
        killed.length,
        healthy.length,
        quantile(healthy, 0.5),
        quantile(healthy, 0.95),
        quantile(healthy, 0.99),
        quantile(quiet, 0.95),
        troubled.length,
        failed.length,
        quantile(troubled, 0.95),
      ];
    }),
  );
  const columns = [`${buyingWorker} killed`, 'healthy', 'p50', 'p95', 'p99', 'p95 while none was down'];
  printTable(['to final, ms', ...columns, 'troubled', 'failed of these', 'its p95'], rows);
  return rows.map((row) => Number(row[6]));
}

/**
 * Prints the load on shared resources per phase. If the load were higher while one provider has
 * trouble, the healthy provider would become slower.
 */
function printCosts(played: Phase[]): void {
  const sum = (all: Record<string, number>) => Object.values(all).reduce((total, each) => total + each, 0);
  const processes = ['web', 'mongodb', 'redis'];
  printTable(
    ['per second', ...processes.map((each) => `${each} ms of CPU`), 'MongoDB commands', 'Redis commands'],
    played.map(({ name, cost: { seconds, cpuUs, mongodb, redis } }) => [
      name,
      ...processes.map((each) => (cpuUs[each] ?? 0) / 1_000 / seconds),
      sum(mongodb) / seconds,
      sum(redis) / seconds,
    ]),
  );
}

async function printRedis({ redis, prefix }: Bench): Promise<void> {
  const keys = await redis.keys(`${prefix}*`);
  const waiting = keys.filter((key) => /:(wait|active|delayed|prioritized|paused)$/.test(key));
  const counts = await Promise.all(
    waiting.map(async (key) => ((await redis.type(key)) === 'list' ? redis.llen(key) : redis.zcard(key))),
  );
  const jobs = counts.reduce((total, count) => total + count, 0);
  console.log(`in Redis at the end: ${keys.length} keys, ${jobs} waiting jobs, including scheduled ones`);
}

/** Checks that each success was executed once and that no other purchase was executed. */
async function checkExecutions({ db }: Bench, { simulator }: World): Promise<void> {
  const executed = await fetchJson<Execution[]>(`${simulator.url}/log`);
  const purchases = executed.map(({ ref_id: order }) => order.replace(/-\d+$/, ''));
  const transactions = db.collection<{ _id: string; status: string }>('transactions');
  const successes = await transactions.countDocuments({ status: 'SUCCESS' });
  requireTrue(new Set(purchases).size === purchases.length, 'a purchase was executed twice');
  requireTrue(purchases.length === successes, `${purchases.length} executed, ${successes} successes`);
  const open = await transactions.countDocuments({ status: { $nin: ['SUCCESS', 'FAILED'] } });
  requireTrue(open === 0, `${open} purchases are not final`);
}
