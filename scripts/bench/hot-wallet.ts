/**
 * Many clients buy from one wallet. Measures one web process and four, compared with the naive
 * server. Then checks that four processes accept exactly the purchases that a smaller balance
 * covers.
 */
import { product } from './support/bench-product.js';
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
import { printGoal } from './support/print.js';
import { printLoads } from './support/print-loads.js';
import { inTurns, median } from './support/rounds.js';
import { openShop } from './support/shop.js';
import type { RunningProcess } from './support/start-process.js';
import { booksOf, startYardstick } from './support/yardstick.js';

const names = ['naive', 'one process', 'four processes'] as const;
type Candidate = (typeof names)[number];

/**
 * Number of purchases that the balance of the second wallet covers. The load attempts twice as
 * many.
 */
const covered = 500;

export async function benchHotWallet(): Promise<void> {
  const rounds = numberOption('ROUNDS', 5);
  const seconds = numberOption('SECONDS', 5);
  const connections = numberOption('CONNECTIONS', 64);
  await runBench(async (bench) => {
    const { buyersFile } = await openShop({
      buyers: 2,
      balance: (index) => (index === 0 ? 9e12 : covered * product.price),
    });
    const webs = await Promise.all(Array.from({ length: 4 }, () => startWeb()));
    const servers: Record<Candidate, RunningProcess[]> = {
      naive: [await startYardstick(bench, 'naive', buyersFile)],
      'one process': webs.slice(0, 1),
      'four processes': webs,
    };
    const load = await startHelper('load', 'load');
    const buy = async (name: Candidate, forSeconds: number) => {
      const processes = servers[name];
      const wanted = { urls: processes.map(({ url }) => url), buyersFile, buyers: 1, connections };
      const books = booksOf(bench, name === 'naive' ? 'naive' : 'ours');
      const all = { ...wanted, seconds: forSeconds, processes };
      const measured = await withBooks(books, () => measureLoad(bench, load, all));
      await deleteRedisKeys(bench);
      return measured;
    };
    for (const name of names) {
      await buy(name, 2);
    }
    console.log(`one wallet, ${connections} connections, ${rounds} rounds A-B-B-A of ${seconds} s, medians`);
    const measured = await inTurns(names, rounds, (name) => buy(name, seconds));
    printLoads(names.map((name) => ({ name, all: measured[name] })));
    await withBooks(
      bench.db,
      () =>
        measureLoad(bench, load, {
          urls: webs.map(({ url }) => url),
          buyersFile,
          firstBuyer: 1,
          buyers: 1,
          connections,
          seconds: 60,
          purchases: 2 * covered,
          repeat: true,
          processes: webs,
        }),
      { refusals: { 402: covered } },
    );
    console.log(
      `a wallet that covers ${covered} purchases: of ${2 * covered} requested from four processes, ${covered} accepted`,
    );
    const rate = (name: Candidate) => median(measured[name].map((each) => each.perSecond));
    const shareOfOne = (100 * rate('four processes')) / rate('one process');
    const times = rate('one process') / rate('naive');
    printGoal('hot wallet, compared with naive', { goal: 10, reached: times, unit: 'x', wanted: 'at least' });
    printGoal('four processes, as a share of one process', {
      goal: 100,
      reached: shareOfOne,
      unit: '%',
      wanted: 'at least',
    });
    await checkLedger();
  });
}
