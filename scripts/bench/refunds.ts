/**
 * Refunds of one wallet while it buys. Measures the posting engine against one driver transaction
 * per refund, and then the whole pipeline with a provider that refuses.
 */
import type { RefundResult, RefundWork } from './processes/refunder.js';
import type { Load, LoadResult } from './processes/load.js';
import {
  checkLedger,
  deleteRedisKeys,
  runBench,
  startHelper,
  startSimulator,
  startWeb,
  startWorker,
} from './support/bench.js';
import type { Bench } from './support/bench.js';
import { call } from './support/calls.js';
import { configureSimulator } from './support/http.js';
import { perOperation, type Cost } from './support/meter.js';
import { numberOption } from './support/options.js';
import { requireTrue, printGoal, printTable } from './support/print.js';
import { printCommands } from './support/print-loads.js';
import { inTurns, median } from './support/rounds.js';
import { openShop } from './support/shop.js';
import type { RunningProcess } from './support/start-process.js';
import { startYardstick, yardstickArgs, booksOf } from './support/yardstick.js';

const names = ['bare', 'engine'] as const;
type Candidate = (typeof names)[number];

/** Number of purchases prepared per second of a round. It exceeds what a round can refund. */
const aheadPerSecond = 1_500;
const aheadInPipeline = 500;

interface Refunds {
  refunded: number;
  perSecond: number;
  /** Number of purchases per second during the refunds. */
  bought: number;
  /** Mean cost per operation, over refunds and purchases together. */
  cost: Cost;
}

export async function benchRefunds(): Promise<void> {
  const rounds = numberOption('ROUNDS', 3);
  const seconds = numberOption('SECONDS', 5);
  const connections = numberOption('CONNECTIONS', 16);
  await runBench(async (bench) => {
    const shop = await openShop({ buyers: 1, balance: () => 9e12 });
    const load = await startHelper('load', 'load');
    const simulator = await startSimulator();
    const web = await startWeb({ SIMULATOR_URL: simulator.url });
    const shops: Record<Candidate, { web: RunningProcess; refunder: RunningProcess }> = {
      bare: {
        web: await startYardstick(bench, 'bare', shop.buyersFile),
        refunder: await startHelper('refunder', 'refund-bare', yardstickArgs(bench, 'bare', shop.buyersFile)),
      },
      engine: { web, refunder: await startHelper('refunder', 'refund') },
    };
    const loadOf = (server: RunningProcess): Load => ({
      urls: [server.url],
      buyersFile: shop.buyersFile,
      buyers: 1,
      connections,
      seconds,
    });
    const accountId = shop.buyers[0]?.id ?? '';
    const measure = (name: Candidate): Promise<Refunds> => {
      // Single transactions are slow, so they need fewer purchases.
      const ahead = (name === 'bare' ? 200 : aheadPerSecond) * seconds;
      const making = { accountId, make: ahead, sellerId: shop.sellerId };
      // Sequential refunds are the fastest order for single transactions on one wallet.
      const refunding = { accountId, seconds, atOnce: name === 'bare' ? 1 : 200 };
      return measureRefunds(bench, {
        ...shops[name],
        load,
        buying: loadOf(shops[name].web),
        making,
        refunding,
      });
    };
    console.log(
      `one wallet, ${connections} connections buy at the same time, ${rounds} rounds A-B-B-A of ${seconds} s, medians`,
    );
    const measured = await inTurns(names, rounds, measure);
    await checkRefunds(bench, measured);
    const pipeline = await measurePipelineRefunds(bench, {
      load,
      web,
      simulator,
      loadOf,
      make: () =>
        callRefunder(shops.engine.refunder, {
          accountId,
          make: aheadInPipeline * seconds,
          sellerId: shop.sellerId,
          withJobs: true,
        }),
    });
    printRefunds(measured, pipeline);
    await checkLedger();
  });
}

function printRefunds(
  measured: Record<Candidate, Refunds[]>,
  pipeline: { perSecond: number; bought: number },
): void {
  const rate = (name: Candidate) => median(measured[name].map((each) => each.perSecond));
  const cpu = (name: Candidate, process: string) =>
    median(measured[name].map((each) => each.cost.cpuUs[process] ?? 0));
  printTable(
    ['', 'refunds/s', 'purchases/s during it', 'refunder µs', 'web µs', 'mongodb µs'],
    [
      ...names.map((name) => [
        name,
        rate(name),
        median(measured[name].map((each) => each.bought)),
        ...['refunder', 'web', 'mongodb'].map((process) => cpu(name, process)),
      ]),
      ['whole pipeline', pipeline.perSecond, pipeline.bought, '', '', ''],
    ],
  );
  console.log('CPU is per operation, a refund or a purchase');
  names.forEach((name) =>
    printCommands(
      name,
      measured[name].map(({ cost }) => cost),
    ),
  );
  printGoal('refunds of one wallet, engine', {
    goal: 500,
    reached: rate('engine'),
    unit: '/s',
    wanted: 'at least',
  });
  printGoal('refunds of one wallet, whole pipeline', {
    goal: 200,
    reached: pipeline.perSecond,
    unit: '/s',
    wanted: 'at least',
  });
}

async function measureRefunds(
  { meter }: Bench,
  parts: {
    web: RunningProcess;
    refunder: RunningProcess;
    load: RunningProcess;
    buying: Load;
    making: RefundWork;
    refunding: RefundWork;
  },
): Promise<Refunds> {
  const { web, refunder, load, buying, making, refunding } = parts;
  await callRefunder(refunder, making);
  const stop = await meter.start([web, refunder]);
  const [refunds, bought] = await Promise.all([
    callRefunder(refunder, refunding),
    call<LoadResult>(load.child, buying),
  ]);
  const cost = perOperation(await stop(), refunds.refunded + bought.accepted);
  return { perSecond: refunds.perSecond, bought: bought.perSecond, cost, refunded: refunds.refunded };
}

function callRefunder(refunder: RunningProcess, work: RefundWork): Promise<RefundResult> {
  return call<RefundResult>(refunder.child, work);
}

/** Checks that the ledger contains each reported refund with its purchase. */
async function checkRefunds(
  bench: Bench,
  measured: Record<Candidate, { refunded: number }[]>,
): Promise<void> {
  for (const name of names) {
    const books = booksOf(bench, name === 'bare' ? 'bare' : 'ours');
    const reported = measured[name].reduce((total, { refunded }) => total + refunded, 0);
    const refunds = await books.collection('journals').countDocuments({ kind: 'refund' });
    const failed = await books.collection('transactions').countDocuments({ status: 'FAILED' });
    requireTrue(
      refunds === reported && failed === reported,
      `${name}: ${reported} refunds reported, ${refunds} journals, ${failed} FAILED`,
    );
  }
}

/**
 * Measures the refunds of the whole pipeline. All prepared purchases are waiting when the worker
 * starts. Purchases made in the meantime are added.
 */
async function measurePipelineRefunds(
  bench: Bench,
  parts: {
    load: RunningProcess;
    web: RunningProcess;
    simulator: RunningProcess;
    loadOf: (server: RunningProcess) => Load;
    make: () => Promise<unknown>;
  },
): Promise<{ perSecond: number; bought: number }> {
  const { load, web, simulator, loadOf, make } = parts;
  await configureSimulator(simulator, { refuse_rate: 1 });
  // Removes the jobs of purchases that the engine has refunded.
  await deleteRedisKeys(bench);
  const failed = () => bench.db.collection('transactions').countDocuments({ status: 'FAILED' });
  await make();
  const worker = await startWorker('fulfilment', { SIMULATOR_URL: simulator.url });
  const before = { failed: await failed(), ms: performance.now() };
  const bought = await call<LoadResult>(load.child, loadOf(web));
  const perSecond = (1_000 * ((await failed()) - before.failed)) / (performance.now() - before.ms);
  await worker.stop();
  return { perSecond, bought: bought.perSecond };
}
