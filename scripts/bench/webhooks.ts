/**
 * Deliveries per second and per core to a local receiver, compared with the same HTTP client in a
 * loop without queue or database. Also the drain rate of one receiver's backlog, compared with four
 * concurrent requests. CPU is that of this process alone; the receiver and the databases are
 * separate processes.
 */
import { limits } from '../../config/limits.js';
import { numberOption } from './support/options.js';
import { printGoal, printTable } from './support/print.js';
import { inTurns, median } from './support/rounds.js';
import { runBench, startHelper } from './support/bench.js';
import { prepareRounds, type Measurement } from './webhook-rounds.js';

const receivers = 50;
/** Response time of the receiver with a backlog, in milliseconds. */
const responseDelayMs = 50;

export async function benchWebhooks(): Promise<void> {
  const events = numberOption('EVENTS', 2_000);
  const rounds = numberOption('ROUNDS', 5);
  await runBench(async () => {
    const [quick, slow] = [
      await startHelper('receiver', 'receiver'),
      await startHelper('slow receiver', 'receiver', [String(responseDelayMs)]),
    ];
    const backlog = numberOption('BACKLOG', 2_000);
    const bench = await prepareRounds({ quick: quick.url, slow: slow.url }, { events, receivers, backlog });
    try {
      await bench.bare();
      await bench.whole();
      const measured = await inTurns(['bare', 'whole'], rounds, (kind) => bench[kind]());
      console.log(`${events} events to ${receivers} receivers, ${rounds} rounds A-B-B-A, medians`);
      printRounds(measured);
      const four = await bench.backlog(limits.inFlightStart);
      printBacklog(four, await bench.backlog(null), backlog);
    } finally {
      await bench.close();
    }
  });
}

function printRounds({ bare, whole }: { bare: Measurement[]; whole: Measurement[] }): void {
  const cpuUs = (all: Measurement[]) => median(all.map((each) => each.cpuUs));
  const perCore = (all: Measurement[]) => 1e6 / cpuUs(all);
  const row = (name: string, all: Measurement[]) => [
    name,
    median(all.map((each) => each.perSecond)),
    cpuUs(all),
    perCore(all),
  ];
  printTable(
    ['', 'deliveries/s', 'CPU µs each', 'per core second'],
    [row('bare undici loop', bare), row('queue, database, delivery', whole)],
  );
  const share = (100 * perCore(whole)) / perCore(bare);
  printGoal('deliveries per core second', {
    goal: 500,
    reached: perCore(whole),
    unit: '',
    wanted: 'at least',
  });
  printGoal('share of the bare loop', { goal: 60, reached: share, unit: '%', wanted: 'at least' });
}

function printBacklog(four: Measurement, earned: Measurement, events: number): void {
  console.log(`a backlog of ${events} of one receiver that responds after ${responseDelayMs} ms`);
  printTable(
    ['', 'deliveries/s'],
    [
      [`${limits.inFlightStart} at a time`, four.perSecond],
      [`adaptive, up to ${limits.inFlightDefault}`, earned.perSecond],
    ],
  );
  const times = earned.perSecond / four.perSecond;
  printGoal('adaptive, of the fixed limit', { goal: 3, reached: times, unit: '', wanted: 'at least' });
}
