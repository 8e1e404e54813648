/**
 * What seeing costs: accepting purchases with nothing on, with metrics (scraped in each turn, more often than Prometheus does)
 * and with traces of a tenth of the calls. A second process with nothing on tells how exact this machine is.
 */
import { request } from 'undici';
import { freePort } from '../databases/ports.js';
import {
  checkLedger,
  emptyRedis,
  measureLoad,
  runBench,
  startHelper,
  startWeb,
  withBooks,
} from './support/bench.js';
import type { Loaded } from './support/bench.js';
import { numberOption } from './support/options.js';
import { printGoal } from './support/print.js';
import { printLoads } from './support/print-loads.js';
import { inTurns, median } from './support/rounds.js';
import { openShop } from './support/shop.js';
import type { RunningProcess } from './support/start-process.js';

const names = ['off', 'off again', 'metrics', 'traces'] as const;
type Name = (typeof names)[number];

export async function benchSignals(): Promise<void> {
  const rounds = numberOption('ROUNDS', 5);
  const seconds = numberOption('SECONDS', 5);
  const connections = numberOption('CONNECTIONS', 16);
  const buyers = numberOption('ACCOUNTS', 1_000);
  await runBench(async (bench) => {
    const { buyersFile } = await openShop({ buyers });
    const collector = await startHelper('collector', 'receiver');
    const metricsPort = await freePort();
    const webs: Record<Name, RunningProcess> = {
      off: await startWeb(),
      'off again': await startWeb(),
      metrics: await startWeb({ METRICS_PORT: String(metricsPort) }),
      traces: await startWeb({
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_TRACES_SAMPLER_ARG: '0.1',
      }),
    };
    const load = await startHelper('load', 'load');
    const buy = async (name: Name, lasts: number): Promise<Loaded> => {
      const wanted = { connections, seconds: lasts, urls: [webs[name].url], buyersFile, buyers };
      const measured = await withBooks(bench.db, async () => {
        const [found] = await Promise.all([
          measureLoad(bench, load, { ...wanted, processes: [webs[name]] }),
          name === 'metrics' && scrape(metricsPort),
        ]);
        return found;
      });
      await emptyRedis(bench);
      return measured;
    };
    for (const name of names) {
      await buy(name, 2);
    }
    console.log(
      `${connections} connections, ${buyers} wallets, ${rounds} rounds A-B-B-A of ${seconds} s, medians`,
    );
    const measured = await inTurns(names, rounds, (name) => buy(name, seconds));
    printLoads(names.map((name) => ({ name, all: measured[name] })));
    const cpuOf = (...of: Name[]) =>
      median(of.flatMap((name) => measured[name].map(({ cpuUs }) => cpuUs['web'] ?? NaN)));
    const more = (name: Name) => 100 * (cpuOf(name) / cpuOf('off', 'off again') - 1);
    console.log('more CPU of the web process a purchase than with nothing on, by medians:');
    for (const [name, goal] of [
      ['off again', 2],
      ['metrics', 3],
      ['traces', 5],
    ] as const) {
      printGoal(name, { goal, reached: more(name), unit: '%', wanted: 'at most' });
    }
    await checkLedger();
  });
}

async function scrape(port: number): Promise<void> {
  const { body } = await request(`http://127.0.0.1:${port}/metrics`);
  await body.dump();
}
