/**
 * The cost of observability. First measures an upper bound from its parts
 * (support/observability-cost.ts). Then measures the cost of accepting purchases in three states: with
 * everything off, with metrics (scraped in each round), and with traces of a tenth and of all
 * calls.
 *
 * One process is switched between the states (processes/switching-web.ts). Each round is compared
 * with nearby rounds in which everything is off, and the error of the mean is shown. `off again`
 * validates the measurement.
 */
import { request } from 'undici';
import { findFreePort } from '../databases/ports.js';
import {
  checkLedger,
  deleteRedisKeys,
  measureLoad,
  runBench,
  startHelper,
  withBooks,
} from './support/bench.js';
import type { LoadMeasurement } from './support/bench.js';
import { call } from './support/calls.js';
import { numberOption } from './support/options.js';
import { printGoal, formatValue } from './support/print.js';
import { printLoads } from './support/print-loads.js';
import { printObservabilityCost } from './support/observability-cost.js';
import { startWorld } from './support/pipelines.js';
import { startProcess } from './support/start-process.js';
import type { SignalSettings } from './processes/switching-web.js';

const configurations = {
  off: { counts: false, traces: 0 },
  'off again': { counts: false, traces: 0 },
  metrics: { counts: true, traces: 0 },
  'traces of a tenth': { counts: false, traces: 0.1 },
  'traces of all': { counts: false, traces: 1 },
} as const satisfies Record<string, SignalSettings>;
type Name = keyof typeof configurations;
const names = Object.keys(configurations) as Name[];

/** Warm-up per variant in seconds, until the JIT has compiled most code. */
const warmUpSeconds = 4;

export async function benchSignals(): Promise<void> {
  const rounds = numberOption('ROUNDS', 20);
  const seconds = numberOption('SECONDS', 5);
  const connections = numberOption('CONNECTIONS', 16);
  const buyers = numberOption('ACCOUNTS', 1_000);
  const purchases = numberOption('PURCHASES', 2_000);
  await runBench(async (bench) => {
    const world = await startWorld({ buyers });
    const { buyersFile } = world.shop;
    const load = await startHelper('load', 'load');
    await printObservabilityCost(bench, world, load, { purchases, connections });
    await deleteRedisKeys(bench);
    const collector = await startHelper('collector', 'receiver');
    const metricsPort = await findFreePort();
    const web = await startProcess({
      name: 'web',
      script: 'scripts/bench/main.js',
      args: ['switching-web', collector.url],
      env: {
        NODE_ENV: 'development',
        LOG_LEVEL: 'info',
        METRICS_PORT: String(metricsPort),
        PORT: String(await findFreePort()),
      },
    });
    const buy = async (name: Name, lasts: number): Promise<LoadMeasurement> => {
      await call<null>(web.child, configurations[name]);
      const wanted = { connections, seconds: lasts, urls: [web.url], buyersFile, buyers };
      const measured = await withBooks(bench.db, async () => {
        const [found] = await Promise.all([
          measureLoad(bench, load, { ...wanted, processes: [web] }),
          name === 'metrics' && scrape(metricsPort),
        ]);
        return found;
      });
      await deleteRedisKeys(bench);
      return measured;
    };
    console.log(
      `${connections} connections, ${buyers} wallets, ${rounds} rounds of ${seconds} s each, in one process`,
    );
    for (const name of names) {
      await buy(name, warmUpSeconds);
    }
    const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
      Name,
      LoadMeasurement[]
    >;
    for (let round = 0; round < rounds; round++) {
      for (const name of orderOf(round)) {
        measured[name].push(await buy(name, seconds));
      }
    }
    printLoads(names.map((name) => ({ name, all: measured[name] })));
    printCosts(measured);
    await checkLedger();
  });
}

/**
 * Returns an order in which each name takes each position equally often over the rounds, so that
 * slow drifts affect all names.
 */
function orderOf(round: number): Name[] {
  const from = round % names.length;
  const order = [...names.slice(from), ...names.slice(0, from)];
  return Math.floor(round / names.length) % 2 === 0 ? order : order.toReversed();
}

function printCosts(measured: Record<Name, LoadMeasurement[]>): void {
  const cpuOf = (name: Name) => measured[name].map(({ cpuUs }) => cpuUs['web'] ?? NaN);
  const [first, second] = [cpuOf('off'), cpuOf('off again')];
  const off = first.map((cpu, round) => (cpu + (second[round] ?? NaN)) / 2);
  const morePerCent = (name: Name, against: number[]) =>
    meanAndError(cpuOf(name).map((cpu, round) => 100 * (cpu / (against[round] ?? NaN) - 1)));
  console.log('additional CPU of the web process per purchase: mean of the rounds, and twice its error');
  for (const [name, against, goal, share] of [
    ['off again', first, 2, 1],
    ['metrics', off, 3, 1],
    ['traces of a tenth', off, 5, 1],
    ['traces of all', off, 5, 0.1],
  ] as const) {
    const { mean, error } = morePerCent(name, against);
    const what = share === 1 ? name : `${name}, ${formatValue(mean)} %; a tenth of that`;
    printGoal(`${what} (± ${formatValue(2 * error * share)})`, {
      goal,
      reached: mean * share,
      unit: '%',
      wanted: 'at most',
    });
  }
}

function meanAndError(values: number[]): { mean: number; error: number } {
  const mean = values.reduce((total, each) => total + each, 0) / values.length;
  const squares = values.reduce((total, each) => total + (each - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
}

async function scrape(port: number): Promise<void> {
  const { body } = await request(`http://127.0.0.1:${port}/metrics`);
  await body.dump();
}
