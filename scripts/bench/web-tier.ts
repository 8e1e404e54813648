/**
 * Cost of the web tier alone: a call that validates a body and returns it, compared with node:http
 * and plain Express.
 */
import type { EchoServer } from './processes/echo-server.js';
import { measureLoad, runBench, startHelper } from './support/bench.js';
import { numberOption } from './support/options.js';
import { requireTrue, printGoal, printTable } from './support/print.js';
import { sum } from './support/print-loads.js';
import { inTurns, median } from './support/rounds.js';
import { openShop } from './support/shop.js';

const names = ['http', 'express', 'frame', 'ours'] as const satisfies EchoServer[];

export async function benchWebTier(): Promise<void> {
  const rounds = numberOption('ROUNDS', 5);
  const seconds = numberOption('SECONDS', 5);
  const connections = numberOption('CONNECTIONS', 64);
  const buyers = numberOption('ACCOUNTS', 1_000);
  await runBench(async (bench) => {
    const { buyersFile } = await openShop({ buyers });
    const load = await startHelper('load', 'load');
    const measure = async (name: EchoServer, forSeconds = seconds) => {
      const server = await startHelper('web', 'serve-echo', [name]);
      const wanted = { urls: [server.url], path: '/echo', buyersFile, buyers, connections };
      const send = (length: number) =>
        measureLoad(bench, load, { ...wanted, seconds: length, processes: [server] });
      await send(1);
      const measured = await send(forSeconds);
      requireTrue(Object.keys(measured.refused).length === 0, `refused ${JSON.stringify(measured.refused)}`);
      await server.stop();
      return measured;
    };
    console.log(`${connections} connections, ${rounds} rounds A-B-B-A of ${seconds} s, medians`);
    const measured = await inTurns(names, rounds, (name) => measure(name));
    const of = (name: EchoServer, value: (each: (typeof measured)['ours'][number]) => number) =>
      median(measured[name].map(value));
    const webUs = (name: EchoServer) => of(name, ({ cpuUs }) => cpuUs['web'] ?? 0);
    printTable(
      ['', 'calls/s', 'p50 ms', 'p99 ms', 'web µs', 'Redis cmds', 'MongoDB cmds'],
      names.map((name) => [
        name,
        of(name, ({ perSecond }) => perSecond),
        of(name, ({ p50Ms }) => p50Ms),
        of(name, ({ p99Ms }) => p99Ms),
        webUs(name),
        of(name, ({ redis }) => sum(redis)),
        of(name, ({ mongodb }) => sum(mongodb)),
      ]),
    );
    for (const name of ['frame', 'ours'] as const) {
      printGoal(`${name}: CPU, compared with Express`, {
        goal: 0.5,
        reached: webUs(name) / webUs('express'),
        unit: 'x',
        wanted: 'at most',
      });
      printGoal(`${name}: CPU, compared with node:http`, {
        goal: 2.5,
        reached: webUs(name) / webUs('http'),
        unit: 'x',
        wanted: 'at most',
      });
    }
  });
}
