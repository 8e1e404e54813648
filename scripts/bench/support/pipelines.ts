/**
 * The two compared pipelines: all processes from the purchase to the delivered webhook, and the
 * check for completion.
 */
import type { Collection, Document } from 'mongodb';
import { getReceiverId } from '../../../src/webhooks/new-delivery.js';
import type { Bench } from './bench.js';
import { startHelper, startSimulator, startWeb, startWorker } from './bench.js';
import { configureSimulator } from './http.js';
import { numberOption } from './options.js';
import { openShop, type Shop } from './shop.js';
import { startProcess, type RunningProcess } from './start-process.js';
import { booksOf, startYardstick, yardstickArgs } from './yardstick.js';

export interface Pipeline {
  web: RunningProcess;
  processes: RunningProcess[];
  /**
   * True if every purchase is final and every webhook is delivered. Each check costs
   * `probeCommands` MongoDB commands.
   */
  isDone(): Promise<boolean>;
  probeCommands: number;
}

export interface World {
  shop: Shop;
  simulator: RunningProcess;
  inbox: RunningProcess;
}

/** True if one process runs all workers, as on the smallest machines (`ONE_WORKER=1`). */
const isOneWorker = numberOption('ONE_WORKER', 0, 0) === 1;
export const workerNames = isOneWorker ? ['all'] : ['fulfilment', 'follow-up', 'webhooks', 'sellers'];
/** The worker that orders from providers. */
export const [buyingWorker = ''] = workerNames;

export async function startWorld(options: { buyers: number }): Promise<World> {
  const simulator = await startSimulator();
  const inbox = await startProcess({
    name: 'inbox',
    script: 'scripts/inbox/main.js',
    args: ['--port', '0', '--host', '127.0.0.1', '--seed', '1'],
  });
  const shop = await openShop({ ...options, inboxUrl: inbox.url });
  await configureSimulator(inbox, {
    secrets: Object.fromEntries(shop.buyers.map(({ id, webhookSecret }) => [`/hooks/${id}`, webhookSecret])),
  });
  return { shop, simulator, inbox };
}

/** @param start Starts the processes. By default they are started as in production. */
export async function startOurs(
  bench: Bench,
  { shop, simulator, inbox }: World,
  start = { web: startWeb, worker: startWorker },
): Promise<Pipeline> {
  const env = { SIMULATOR_URL: simulator.url };
  const web = await start.web(env);
  const workers = await Promise.all(workerNames.map((name) => start.worker(name, env)));
  const receivers = shop.buyers.map(({ id }) => getReceiverId(id, `${inbox.url}/hooks/${id}`));
  const transactions = bench.db.collection('transactions');
  const deliveries = bench.db.collection('deliveries');
  return {
    web,
    processes: [web, ...workers, simulator, inbox],
    probeCommands: 2,
    async isDone() {
      const found = await Promise.all([
        existsIn(transactions, { status: { $in: ['PENDING', 'PROCESSING'] } }),
        existsIn(deliveries, { receiverId: { $in: receivers }, state: 'due' }),
      ]);
      return !found.includes(true);
    },
  };
}

export async function startBare(bench: Bench, { shop, simulator, inbox }: World): Promise<Pipeline> {
  const web = await startYardstick(bench, 'bare', shop.buyersFile);
  const args = [...yardstickArgs(bench, 'bare', shop.buyersFile), simulator.url, inbox.url];
  const worker = await startHelper('worker', 'bare-worker', args);
  const transactions = booksOf(bench, 'bare').collection('transactions');
  return {
    web,
    processes: [web, worker, simulator, inbox],
    probeCommands: 1,
    isDone: async () => !(await existsIn(transactions, { delivered: false })),
  };
}

async function existsIn(collection: Collection, filter: Document): Promise<boolean> {
  return (await collection.findOne(filter, { projection: { _id: 1 } })) !== null;
}
