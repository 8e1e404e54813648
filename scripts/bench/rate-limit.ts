/**
 * Checks that the rate limiter is exact across two web processes. Measures its cost per accepted
 * call against a bare script, and checks that a blocked key costs no Redis call.
 */
import type { LimitResult, LimitWork } from './processes/limiter.js';
import type { LoadResult } from './processes/load.js';
import { runBench, startHelper, startWeb, type Bench } from './support/bench.js';
import { call } from './support/calls.js';
import { perOperation, type Cost } from './support/meter.js';
import { numberOption } from './support/options.js';
import { requireTrue, printGoal, printTable } from './support/print.js';
import { printCommands, sum } from './support/print-loads.js';
import { inTurns, median } from './support/rounds.js';
import { openShop } from './support/shop.js';
import type { RunningProcess } from './support/start-process.js';

const names = ['bare', 'ours'] as const;
const limit = 1_000;
const keys = 100;

export async function benchRateLimit(): Promise<void> {
  const rounds = numberOption('ROUNDS', 5);
  const calls = numberOption('CALLS', 50_000);
  const atOnce = numberOption('CONNECTIONS', 64);
  await runBench(async (bench) => {
    await checkExact();
    const limiter = await startHelper('limiter', 'limiter');
    let run = 0;
    const measure = async (by: (typeof names)[number]) => {
      run += 1;
      return measureLimiter(bench, limiter, {
        by,
        key: `open-${run % keys}`,
        max: Number.MAX_SAFE_INTEGER,
        calls,
        atOnce,
      });
    };
    for (const name of names) {
      await measure(name);
    }
    const measured = await inTurns(names, rounds, measure);
    const blocked = await measureBlocked(bench, limiter, { calls, atOnce });
    console.log(`${calls} calls, ${atOnce} concurrent, ${rounds} rounds A-B-B-A, medians`);
    const cpuUs = (name: (typeof names)[number]) => median(measured[name].map(({ result }) => result.cpuUs));
    const redisUs = (name: (typeof names)[number]) =>
      median(measured[name].map(({ cost }) => cost.cpuUs['redis'] ?? 0));
    printTable(
      ['', 'node µs per call', 'redis µs per call'],
      [
        ...names.map((name) => [name, cpuUs(name), redisUs(name)]),
        ['ours, blocked', blocked.result.cpuUs, blocked.cost.cpuUs['redis'] ?? 0],
      ],
    );
    names.forEach((name) =>
      printCommands(
        name,
        measured[name].map(({ cost }) => cost),
      ),
    );
    printGoal('an accepted call, node', { goal: 10, reached: cpuUs('ours'), unit: 'µs', wanted: 'at most' });
    printGoal('Redis commands of a blocked call', {
      goal: 0,
      reached: sum(blocked.cost.redis),
      unit: '',
      wanted: 'at most',
    });
  });
}

/** @throws Error unless two processes together accept exactly the limit. */
async function checkExact(): Promise<void> {
  const shop = await openShop({ buyers: 1, rateLimit: limit });
  const webs = await Promise.all([startWeb(), startWeb()]);
  const load = await startHelper('load', 'load');
  const { accepted, refused, seconds } = await call<LoadResult>(load.child, {
    urls: webs.map(({ url }) => url),
    buyersFile: shop.buyersFile,
    buyers: 1,
    connections: 64,
    seconds: 50,
    purchases: 3 * limit,
  });
  // A call that got a 503 after the limiter also counts as accepted by the limiter.
  const passed = accepted + (refused[503] ?? 0);
  const summary = `${passed} accepted, ${refused[429] ?? 0} refused in ${seconds.toFixed(0)} s`;
  requireTrue(passed === limit && refused[429] === 2 * limit, `the limit is ${limit} per minute; ${summary}`);
  console.log(`a limit of ${limit} per minute over two processes: ${summary}`);
  await Promise.all([...webs, load].map((each) => each.stop()));
}

interface Measurement {
  result: LimitResult;
  /** Cost of one call. */
  cost: Cost;
}

async function measureLimiter(
  { meter }: Bench,
  limiter: RunningProcess,
  work: LimitWork,
): Promise<Measurement> {
  const stop = await meter.start([]);
  const result = await call<LimitResult>(limiter.child, work);
  return { result, cost: perOperation(await stop(), work.calls) };
}

async function measureBlocked(
  bench: Bench,
  limiter: RunningProcess,
  { calls, atOnce }: Pick<LimitWork, 'calls' | 'atOnce'>,
): Promise<Measurement> {
  const work = { by: 'ours' as const, key: 'blocked', max: 1, atOnce: 1 };
  await measureLimiter(bench, limiter, { ...work, calls: 2 });
  const measured = await measureLimiter(bench, limiter, { ...work, calls, atOnce });
  requireTrue(measured.result.accepted === 0, `${measured.result.accepted} accepted above the limit`);
  return measured;
}
