import type { LoadMeasurement } from './bench.js';
import type { Cost } from './meter.js';
import { formatList, printTable } from './print.js';
import { median } from './rounds.js';

/** Prints one line per server with rate, latency and cost, then its database commands. */
export function printLoads(rows: { name: string; all: LoadMeasurement[] }[]): void {
  printTable(
    [
      '',
      'purchases/s',
      '503s',
      'p50 ms',
      'p99 ms',
      'web µs',
      'mongodb µs',
      'redis µs',
      '(load µs)',
      'MongoDB cmds',
      'Redis cmds',
    ],
    rows.map(({ name, all }) => {
      const of = (value: (each: LoadMeasurement) => number) => median(all.map(value));
      return [
        name,
        of((each) => each.perSecond),
        total(all),
        of((each) => each.p50Ms),
        of((each) => each.p99Ms),
        ...['web', 'mongodb', 'redis'].map((process) => of((each) => each.cpuUs[process] ?? 0)),
        of((each) => each.loadCpuUs / each.accepted),
        of((each) => sum(each.mongodb)),
        of((each) => sum(each.redis)),
      ];
    }),
  );
  rows.forEach(({ name, all }) => printCommands(name, all));
}

function total(all: LoadMeasurement[]): string {
  return String(all.reduce((sumOf, { refused }) => sumOf + (refused[503] ?? 0), 0));
}

/** Prints the database commands of one operation. */
export function printCommands(name: string, all: Cost[]): void {
  console.log(`${name}: MongoDB: ${formatList(all.map((each) => each.mongodb))}`);
  console.log(`${name}: Redis: ${formatList(all.map((each) => each.redis))}`);
}

export function sum(all: Record<string, number>): number {
  return Object.values(all).reduce((total, each) => total + each, 0);
}
