/**
 * Accepts purchases from many wallets. Measures our built web process with production logging,
 * compared with a bare node:http server (one driver transaction and one job) and a naive Express
 * and mongoose server.
 */
import {
  checkLedger,
  deleteRedisKeys,
  measureLoad,
  runBench,
  startHelper,
  startWeb,
  withBooks,
} from './support/bench.js';
import { numberOption } from './support/options.js';
import { printGoal, printTable } from './support/print.js';
import { printLoads } from './support/print-loads.js';
import { inTurns, median } from './support/rounds.js';
import { openShop } from './support/shop.js';
import type { RunningProcess } from './support/start-process.js';
import { booksOf, startYardstick, type Server } from './support/yardstick.js';

const names = ['bare', 'naive', 'ours'] as const;
const idleSeconds = 2;

export async function benchPurchase(): Promise<void> {
  const rounds = numberOption('ROUNDS', 5);
  const seconds = numberOption('SECONDS', 5);
  const connections = numberOption('CONNECTIONS', 64);
  const buyers = numberOption('ACCOUNTS', 10_000);
  await runBench(async (bench) => {
    const { buyersFile } = await openShop({ buyers });
    const servers: Record<Server, RunningProcess> = {
      bare: await startYardstick(bench, 'bare', buyersFile),
      naive: await startYardstick(bench, 'naive', buyersFile),
      ours: await startWeb(),
    };
    const load = await startHelper('load', 'load');
    const buy = async (name: Server, wanted: { connections: number; seconds: number }) => {
      const { url } = servers[name];
      const all = { ...wanted, urls: [url], buyersFile, buyers, processes: [servers[name]] };
      const measured = await withBooks(booksOf(bench, name), () => measureLoad(bench, load, all));
      await deleteRedisKeys(bench);
      return measured;
    };
    for (const name of names) {
      await buy(name, { connections, seconds: 1 });
    }
    console.log(
      `${connections} connections, ${buyers} wallets, ${rounds} rounds A-B-B-A of ${seconds} s, medians`,
    );
    const measured = await inTurns(names, rounds, async (name) => ({
      busy: await buy(name, { connections, seconds }),
      idle: await buy(name, { connections: 1, seconds: idleSeconds }),
    }));
    printLoads(names.map((name) => ({ name, all: measured[name].map(({ busy }) => busy) })));
    const idle = (name: Server) => median(measured[name].map((each) => each.idle.p50Ms));
    printTable(
      ['one connection', 'p50 ms'],
      names.map((name) => [name, idle(name)]),
    );
    const rate = (name: Server) => median(measured[name].map(({ busy }) => busy.perSecond));
    const times = (name: Server) => rate('ours') / rate(name);
    printGoal('accepting, compared with bare', {
      goal: 1.5,
      reached: times('bare'),
      unit: 'x',
      wanted: 'at least',
    });
    printGoal('accepting, compared with naive', {
      goal: 7,
      reached: times('naive'),
      unit: 'x',
      wanted: 'at least',
    });
    printGoal('idle p50 above bare', {
      goal: 1,
      reached: idle('ours') - idle('bare'),
      unit: 'ms',
      wanted: 'at most',
    });
    await checkLedger();
  });
}
