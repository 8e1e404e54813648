/**
 * End-to-end purchases until every webhook is delivered, compared with a bare worker. Runs first at
 * full speed, and then at a fixed rate to measure the latency from acceptance to delivery.
 */
import { request } from 'undici';
import type { Execution } from '../simulator/order-book.js';
import type { Adding } from './processes/bare-queue.js';
import type { LoadResult } from './processes/load.js';
import { checkLedger, runBench, startHelper } from './support/bench.js';
import type { Bench } from './support/bench.js';
import { call } from './support/calls.js';
import { fetchJson } from './support/http.js';
import { perOperation, type Cost } from './support/meter.js';
import { numberOption } from './support/options.js';
import { requireTrue, printGoal, printTable } from './support/print.js';
import { printCommands, sum } from './support/print-loads.js';
import { startBare, startOurs, startWorld, type Pipeline, type World } from './support/pipelines.js';
import { inTurns, median, quantile } from './support/rounds.js';
import type { RunningProcess } from './support/start-process.js';
import { untilTrue } from './support/wait-until-true.js';

const names = ['bare', 'ours'] as const;
const limitMs = 600_000;
const probeEveryMs = 250;

interface Flow {
  perSecond: number;
  /** Cost of one purchase. */
  cost: Cost;
}

export async function benchPipeline(): Promise<void> {
  const rounds = numberOption('ROUNDS', 3);
  const purchases = numberOption('PURCHASES', 2_000);
  const buyers = numberOption('ACCOUNTS', 100);
  const seconds = numberOption('SECONDS', 15);
  const connections = numberOption('CONNECTIONS', 64);
  await runBench(async (bench) => {
    const world = await startWorld({ buyers });
    const load = await startHelper('load', 'load');
    const pipelines = { bare: await startBare(bench, world), ours: await startOurs(bench, world) };
    const through = (pipeline: Pipeline, count: number) =>
      flow(bench, pipeline, () =>
        call<LoadResult>(load.child, {
          urls: [pipeline.web.url],
          buyersFile: world.shop.buyersFile,
          buyers,
          connections,
          seconds: limitMs / 1_000,
          purchases: count,
          repeat: true,
        }),
      );
    for (const name of names) {
      await through(pipelines[name], 500);
    }
    await checkOurs(bench, world);
    console.log(`${purchases} purchases by ${buyers} buyers, ${rounds} rounds A-B-B-A, medians`);
    const measured = await inTurns(names, rounds, async (name) => {
      const found = await through(pipelines[name], purchases);
      await (name === 'ours' ? checkOurs(bench, world) : clearInbox(world.inbox));
      return found;
    });
    names.forEach((name) => printFlows(name, measured[name]));
    const reached = median(measured.ours.map(({ perSecond }) => perSecond));
    const cpuMs = median(measured.ours.map(({ cost }) => ownCpuUs(cost))) / 1_000;
    const commands = median(measured.ours.map(({ cost }) => sum(cost.mongodb)));
    const perSecond = numberOption('RATE', Math.max(1, Math.round(reached / 2)));
    const { delivered, ordered } = await atFixedRate(bench, {
      world,
      load,
      pipeline: pipelines.ours,
      perSecond,
      seconds,
    });
    const started = await measureBareQueueStarts(bench, { perSecond, seconds });
    const quantiles = (ms: number[]) => `p50 ${quantile(ms, 0.5)} ms, p99 ${quantile(ms, 0.99)} ms`;
    console.log(`at ${perSecond}/s: from acceptance to delivery ${quantiles(delivered)}`);
    console.log(
      `at ${perSecond}/s: from acceptance to the order by its job ${quantiles(ordered)}; a job of a bare queue starts after ${quantiles(started)}`,
    );
    printGoal('start of a job, p99, compared with a bare queue', {
      goal: 2,
      reached: quantile(ordered, 0.99) / quantile(started, 0.99),
      unit: 'x',
      wanted: 'at most',
    });
    printGoal('completed and delivered', { goal: 300, reached, unit: '/s', wanted: 'at least' });
    printGoal('CPU of all processes per purchase', {
      goal: 5,
      reached: cpuMs,
      unit: 'ms',
      wanted: 'at most',
    });
    printGoal('MongoDB commands per purchase', { goal: 4, reached: commands, unit: '', wanted: 'at most' });
    await checkLedger();
  });
}

/**
 * Measures until every accepted purchase is done.
 * @throws Error on timeout.
 */
async function flow({ meter }: Bench, pipeline: Pipeline, buy: () => Promise<LoadResult>): Promise<Flow> {
  const stop = await meter.start(pipeline.processes);
  const startedMs = performance.now();
  const { accepted, refused, repeated } = await buy();
  if (repeated > 0) {
    console.log(`${repeated} calls got a 503 and were repeated`);
  }
  requireTrue(Object.keys(refused).length === 0, `refused ${JSON.stringify(refused)}`);
  let probes = 0;
  await untilTrue({ everyMs: probeEveryMs, limitMs, what: 'every purchase is delivered' }, () => {
    probes += 1;
    return pipeline.isDone();
  });
  const perSecond = (1_000 * accepted) / (performance.now() - startedMs);
  const cost = await stop();
  cost.mongodb['find'] = (cost.mongodb['find'] ?? 0) - probes * pipeline.probeCommands;
  return { perSecond, cost: perOperation(cost, accepted) };
}

/** CPU time of our processes, except the simulator and the inbox. */
function ownCpuUs({ cpuUs }: Cost): number {
  const { simulator = 0, inbox = 0 } = cpuUs;
  return sum(cpuUs) - simulator - inbox;
}

function printFlows(name: string, all: Flow[]): void {
  const processes = Object.keys(all[0]?.cost.cpuUs ?? {});
  printTable(
    [name, 'purchases/s', ...processes.map((each) => `${each} µs`), 'MongoDB cmds', 'Redis cmds'],
    [
      [
        '',
        median(all.map(({ perSecond }) => perSecond)),
        ...processes.map((each) => median(all.map(({ cost }) => cost.cpuUs[each] ?? 0))),
        median(all.map(({ cost }) => sum(cost.mongodb))),
        median(all.map(({ cost }) => sum(cost.redis))),
      ],
    ],
  );
  printCommands(
    name,
    all.map(({ cost }) => cost),
  );
}

/**
 * Checks that each purchase succeeded with one order, and that each webhook is delivered and
 * received once.
 */
async function checkOurs({ db }: Bench, { simulator, inbox }: World): Promise<void> {
  const count = await db.collection('transactions').countDocuments({});
  const successes = await db.collection('transactions').countDocuments({ status: 'SUCCESS' });
  requireTrue(successes === count, `${successes} of ${count} purchases succeeded`);
  const executed = await fetchJson<Execution[]>(`${simulator.url}/log?provider=seller`);
  const bought = new Set(executed.map((each) => each.ref_id));
  requireTrue(
    bought.size === count && executed.length === count,
    `${executed.length} orders for ${count} purchases`,
  );
  const delivered = await db
    .collection('deliveries')
    .countDocuments({ event: 'transaction.success', state: 'delivered' });
  requireTrue(delivered === count, `${delivered} webhooks delivered for ${count} purchases`);
  await clearInbox(inbox);
}

/** Empties the inbox, because its growing store would distort later rounds. */
async function clearInbox({ url }: RunningProcess): Promise<void> {
  const { body } = await request(`${url}/messages`, { method: 'DELETE' });
  await body.dump();
}

/**
 * @returns Milliseconds from each purchase's acceptance to its first order, and to its webhook
 * delivery.
 */
async function atFixedRate(
  bench: Bench,
  parts: { world: World; load: RunningProcess; pipeline: Pipeline; perSecond: number; seconds: number },
): Promise<{ ordered: number[]; delivered: number[] }> {
  const { world, load, pipeline, perSecond, seconds } = parts;
  const since = new Date();
  const { cost } = await flow(bench, pipeline, () =>
    call<LoadResult>(load.child, {
      urls: [pipeline.web.url],
      buyersFile: world.shop.buyersFile,
      buyers: world.shop.buyers.length,
      connections: 64,
      seconds: 2 * seconds,
      purchases: perSecond * seconds,
      perSecond,
      repeat: true,
    }),
  );
  await checkOurs(bench, world);
  console.log(
    `at ${perSecond}/s: ${(ownCpuUs(cost) / 1_000).toFixed(1)} ms of CPU, ${sum(cost.mongodb).toFixed(1)} MongoDB commands`,
  );
  printCommands(`at ${perSecond}/s`, [cost]);
  const accepted = await bench.db
    .collection<{ _id: string; createdAt: Date }>('transactions')
    .find({ createdAt: { $gte: since } }, { projection: { createdAt: 1 } })
    .toArray();
  const at = new Map(accepted.map(({ _id, createdAt }) => [_id, createdAt.getTime()]));
  const delivered = await bench.db
    .collection<{ orderKey: string; settledAt: Date }>('deliveries')
    .find(
      { event: 'transaction.success', createdAt: { $gte: since } },
      { projection: { orderKey: 1, settledAt: 1 } },
    )
    .toArray();
  const orders = await bench.db
    .collection<{ transactionId: string; createdAt: Date }>('attempts')
    .find({ createdAt: { $gte: since } }, { projection: { transactionId: 1, createdAt: 1 } })
    .toArray();
  const sinceAccepted = (id: string, moment: Date) => moment.getTime() - (at.get(id) ?? NaN);
  return {
    ordered: orders.map(({ transactionId, createdAt }) => sinceAccepted(transactionId, createdAt)),
    delivered: delivered.map(({ orderKey, settledAt }) => sinceAccepted(orderKey, settledAt)),
  };
}

/** @returns Milliseconds from each `add` to the start of the job. */
async function measureBareQueueStarts(bench: Bench, adding: Adding): Promise<number[]> {
  const prefix = bench.yardstickPrefix('queue');
  const [adder, taker] = await Promise.all([
    startHelper('adder', 'bare-queue', [prefix, 'add']),
    startHelper('taker', 'bare-queue', [prefix, 'take']),
  ]);
  await call(adder.child, { perSecond: adding.perSecond, seconds: 1 } satisfies Adding);
  await call(taker.child, {});
  const added = await call<number>(adder.child, adding);
  const started: number[] = [];
  await untilTrue({ everyMs: probeEveryMs, limitMs, what: 'every job has started' }, async () => {
    started.push(...(await call<number[]>(taker.child, {})));
    return started.length >= added;
  });
  await Promise.all([adder.stop(), taker.stop()]);
  return started;
}
