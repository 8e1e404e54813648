/**
 * Empties Redis under load. Measures how fast the sweep adds all jobs again, compared with addBulk,
 * and checks that no purchase is ordered or charged twice.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { jobPriorities } from '../../src/providers/backlog.js';
import { getProviderQueue } from '../../src/providers/provider-queue.js';
import type { Execution } from '../simulator/order-book.js';
import type { LoadResult } from './processes/load.js';
import {
  checkLedger,
  deleteRedisKeys,
  runBench,
  startHelper,
  startSimulator,
  startWeb,
  startWorker,
  type Bench,
} from './support/bench.js';
import { call } from './support/calls.js';
import { fetchJson } from './support/http.js';
import { numberOption } from './support/options.js';
import { requireTrue, printGoal } from './support/print.js';
import { formatValue } from './support/print.js';
import { openShop } from './support/shop.js';
import { untilTrue } from './support/wait-until-true.js';

/** Number of jobs per sweep step. */
const bulkSize = 1_000;
const everyMs = 20;
const limitMs = 300_000;

export async function benchRecovery(): Promise<void> {
  const purchases = numberOption('PURCHASES', 5_000);
  const buyers = numberOption('ACCOUNTS', 100);
  const connections = numberOption('CONNECTIONS', 64);
  await runBench(async (bench) => {
    const simulator = await startSimulator();
    const env = { SIMULATOR_URL: simulator.url };
    const { buyersFile, sellerId } = await openShop({ buyers });
    const web = await startWeb(env);
    const load = await startHelper('load', 'load');
    const buying = call<LoadResult>(load.child, {
      urls: [web.url],
      buyersFile,
      buyers,
      connections,
      seconds: limitMs / 1_000,
      purchases,
      repeat: true,
    });
    const transactions = bench.db.collection('transactions');
    const accepted = () => transactions.estimatedDocumentCount();
    await untilTrue(
      { everyMs: 100, limitMs, what: 'half of the purchases are made' },
      async () => (await accepted()) >= purchases / 2,
    );
    await deleteRedisKeys(bench);
    const bought = await buying;
    requireTrue(
      bought.accepted === purchases,
      `${bought.accepted} of ${purchases} accepted, ${JSON.stringify(bought.refused)}`,
    );
    // Empties Redis again, so that the sweep has to add every job.
    await deleteRedisKeys(bench);
    const ours = await measureSweep(bench, { purchases, sellerId, env });
    const bare = await measureAddBulk(bench, { purchases, sellerId });
    console.log(
      `${purchases} open purchases: added again at ${formatValue(ours)} jobs/s, addBulk ${formatValue(bare)} jobs/s`,
    );
    await startWorker('fulfilment', env);
    await untilTrue({ everyMs: 250, limitMs, what: 'every purchase is final' }, async () => {
      return (await transactions.countDocuments({ status: 'SUCCESS' })) === purchases;
    });
    const executed = await fetchJson<Execution[]>(`${simulator.url}/log`);
    requireTrue(executed.length === purchases, `${executed.length} orders for ${purchases} purchases`);
    console.log(`all ${purchases} bought once at the provider`);
    printGoal('jobs added again, as a share of addBulk', {
      goal: 50,
      reached: (100 * ours) / bare,
      unit: '%',
      wanted: 'at least',
    });
    await checkLedger();
  });
}

/** Returns the number of jobs per second between the first and the last job that the sweep adds. */
async function measureSweep(
  bench: Bench,
  { purchases, sellerId, env }: { purchases: number; sellerId: string; env: NodeJS.ProcessEnv },
): Promise<number> {
  const queue = openProviderQueue(bench, bench.prefix, sellerId);
  // Waits until all purchases are overdue, so that the measured time contains no waiting.
  await untilTrue({ everyMs: 100, limitMs, what: 'every purchase is overdue' }, async () => {
    const waiting = await bench.db
      .collection('transactions')
      .findOne({ status: 'PENDING', nextActionAt: { $gt: new Date() } });
    return waiting === null;
  });
  await startWorker('follow-up', env);
  const counted = async () => queue.getJobCountByTypes('waiting', 'prioritized');
  let first = { count: 0, ms: 0 };
  for (;;) {
    const count = await counted();
    const ms = performance.now();
    if (count > 0 && first.count === 0) {
      first = { count, ms };
    }
    if (count >= purchases) {
      await queue.close();
      requireTrue(count === purchases, `${count} jobs for ${purchases} purchases`);
      // Jobs of the first sample were added before the measured time.
      return (1_000 * (count - first.count)) / (ms - first.ms);
    }
    requireTrue(first.ms === 0 || ms - first.ms < limitMs, `${count} of ${purchases} jobs were added again`);
    await pause(everyMs);
  }
}

/** Adds the same jobs in batches of the same size, without querying for them. */
async function measureAddBulk(
  bench: Bench,
  { purchases, sellerId }: { purchases: number; sellerId: string },
): Promise<number> {
  const queue = openProviderQueue(bench, bench.yardstickPrefix('bulk'), sellerId);
  const startedMs = performance.now();
  for (let start = 0; start < purchases; start += bulkSize) {
    await queue.addBulk(
      Array.from({ length: Math.min(bulkSize, purchases - start) }, (_each, index) => {
        const purchaseId = String(start + index).padStart(32, '0');
        const deduplication = { id: `fulfil-purchase:${purchaseId}` };
        const opts = { deduplication, priority: jobPriorities.usual };
        return { name: 'fulfil-purchase', data: { v: 3, purchaseId, accountId: purchaseId }, opts };
      }),
    );
  }
  const perSecond = (1_000 * purchases) / (performance.now() - startedMs);
  await queue.close();
  return perSecond;
}

/** The queue that holds the purchases of a seller. */
function openProviderQueue({ redis }: Bench, prefix: string, sellerId: string): Queue {
  return new Queue(getProviderQueue(sellerId).name, {
    connection: redis,
    prefix,
    defaultJobOptions: { removeOnComplete: 1_000, removeOnFail: 1_000 },
  });
}
