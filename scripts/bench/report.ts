/**
 * A report over a million rows by the real worker, compared with a raw projected cursor. Also
 * measures the event-loop delay, and the memory compared with a report over a tenth of the rows.
 */
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { getExistingAccount } from '../../src/accounts/find-account.js';
import { buildPurchase } from '../../src/purchases/accept/new-purchase.js';
import { purchases, toStored } from '../../src/purchases/purchase.model.js';
import { findReport, requestReport } from '../../src/reports/request-report.js';
import { readReportFile } from '../../src/reports/report-file.js';
import { findProduct } from '../../src/products/read-products.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { closeQueues } from '../../src/jobs/queues.js';
import type { ReportResult, ReportWork } from './processes/bare-report.js';
import { runBench, startHelper, startWorker, type Bench } from './support/bench.js';
import { call } from './support/calls.js';
import { customerNumber, product } from './support/bench-product.js';
import { numberOption } from './support/options.js';
import { requireTrue, printGoal, printTable } from './support/print.js';
import { inTurns, median } from './support/rounds.js';
import { openShop } from './support/shop.js';
import type { RunningProcess } from './support/start-process.js';
import { untilTrue } from './support/wait-until-true.js';

const names = ['bare', 'ours'] as const;
const batchSize = 5_000;
const limitMs = 900_000;
const spanMs = 86_400_000;

interface ReportMeasurement {
  rowsPerSecond: number;
  /** CPU microseconds of the reporting process per row. */
  cpuUs: number;
  /** CPU microseconds of MongoDB per row. */
  mongodbUs: number;
  peakMib: number;
  /** p99 of the event-loop delay of our worker. */
  loopP99Ms: number;
}

export async function benchReport(): Promise<void> {
  const rows = numberOption('ROWS', 1_000_000);
  const rounds = numberOption('ROUNDS', 1);
  await runBench(async (bench) => {
    const { buyers, sellerId } = await openShop({ buyers: 2 });
    await connectRedis();
    const [large, small] = buyers.map(({ id }) => id);
    await addRows({ accountId: large ?? '', sellerId, rows });
    await addRows({ accountId: small ?? '', sellerId, rows: Math.ceil(rows / 10) });
    const bare = await startHelper('report', 'report-bare');
    const make = (name: (typeof names)[number], accountId: string, expected: number) =>
      name === 'bare'
        ? measureBareReport(bench, bare, { accountId, rows: expected })
        : measureOurReport(bench, { accountId, rows: expected });
    const smaller = await make('ours', small ?? '', Math.ceil(rows / 10));
    const measured = await inTurns(names, rounds, (name) => make(name, large ?? '', rows));
    await closeQueues();
    await disconnectRedis();
    const of = (name: (typeof names)[number], value: (made: ReportMeasurement) => number) =>
      median(measured[name].map(value));
    console.log(`${rows} rows, ${rounds} rounds A-B-B-A, medians`);
    printTable(
      ['', 'rows/s', 'CPU µs per row', 'mongodb µs per row', 'peak MiB', 'event loop p99 ms'],
      names.map((name) => [
        name,
        of(name, (made) => made.rowsPerSecond),
        of(name, (made) => made.cpuUs),
        of(name, (made) => made.mongodbUs),
        of(name, (made) => made.peakMib),
        of(name, (made) => made.loopP99Ms),
      ]),
    );
    const share = (100 * of('ours', (made) => made.rowsPerSecond)) / of('bare', (made) => made.rowsPerSecond);
    const growth = of('ours', (made) => made.peakMib) - smaller.peakMib;
    printGoal('rows per second, of bare', { goal: 60, reached: share, unit: '%', wanted: 'at least' });
    printGoal('memory above that for a tenth of the rows', {
      goal: 32,
      reached: growth,
      unit: 'MiB',
      wanted: 'at most',
    });
    const loop = of('ours', (made) => made.loopP99Ms);
    printGoal('event loop of the worker, p99', { goal: 50, reached: loop, unit: 'ms', wanted: 'at most' });
  });
}

/**
 * Adds successful purchases of the last day without journals. This benchmark verifies the report
 * files, not the ledger.
 */
async function addRows({
  accountId,
  sellerId,
  rows,
}: {
  accountId: string;
  sellerId: string;
  rows: number;
}): Promise<void> {
  const found = await findProduct(product.code);
  if (!found) {
    throw new Error('The product of the bench is missing');
  }
  const from = Date.now() - spanMs;
  for (let start = 0; start < rows; start += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, rows - start) }, (_each, offset) => {
      const index = start + offset;
      const at = new Date(from + Math.floor((index * spanMs) / rows));
      const made = buildPurchase({
        accountId,
        refId: `row-${index}`,
        surface: 'buyer',
        kind: 'prepaid',
        product: found,
        quoteId: null,
        callbackUrl: null,
        customerNumber,
        price: 5_000 + (index % 90_000),
        offerSellerId: sellerId,
      });
      const state = {
        status: 'SUCCESS' as const,
        serialNumber: `SN-${index}`,
        nextActionAt: null,
        pendingNotified: true,
      };
      return toStored({
        ...made,
        ...state,
        sellerId,
        createdAt: at,
        updatedAt: at,
        finalAt: at,
        commissionAmount: 200,
      });
    });
    await purchases.insertMany(batch, { ordered: false });
  }
}

async function measureBareReport(
  bench: Bench,
  process: RunningProcess,
  { accountId, rows }: { accountId: string; rows: number },
): Promise<ReportMeasurement> {
  const stop = await bench.meter.start([process]);
  resetPeak(process);
  const done = await call<ReportResult>(process.child, { accountId } satisfies ReportWork);
  requireTrue(done.rows === rows, `${done.rows} rows of ${rows}`);
  const { cpuUs } = await stop();
  return {
    rowsPerSecond: rows / done.seconds,
    cpuUs: (cpuUs['report'] ?? 0) / rows,
    mongodbUs: (cpuUs['mongodb'] ?? 0) / rows,
    peakMib: peakMibOf(process),
    loopP99Ms: NaN,
  };
}

/**
 * Each report runs in a fresh worker, so that the memory of one report does not count for the next.
 */
async function measureOurReport(
  bench: Bench,
  { accountId, rows }: { accountId: string; rows: number },
): Promise<ReportMeasurement> {
  const watch = pathToFileURL(getBuiltProgramPath('scripts/bench/watch-event-loop.js')).href;
  const worker = await startWorker('reports', { NODE_OPTIONS: `--import ${watch}` });
  await call(worker.child, { eventLoop: true });
  const stop = await bench.meter.start([worker]);
  const startedMs = performance.now();
  const asked = await requestReport({
    account: await getExistingAccount(accountId),
    type: 'transaction',
    format: 'csv',
  });
  const current = () => findReport(accountId, asked._id);
  await untilTrue(
    { everyMs: 50, limitMs, what: 'the report is completed' },
    async () => (await current()).status === 'completed',
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  const { cpuUs } = await stop();
  const { p99Ms } = await call<{ p99Ms: number }>(worker.child, { eventLoop: true });
  const made = {
    rowsPerSecond: rows / seconds,
    cpuUs: (cpuUs['reports'] ?? 0) / rows,
    mongodbUs: (cpuUs['mongodb'] ?? 0) / rows,
    peakMib: peakMibOf(worker),
    loopP99Ms: p99Ms,
  };
  await worker.stop();
  const report = await current();
  const lines = await linesOf(report);
  requireTrue(
    report.rows === rows && lines === rows + 1,
    `${report.rows} rows and ${lines} lines of ${rows} rows`,
  );
  return made;
}

async function linesOf(report: Parameters<typeof readReportFile>[0]): Promise<number> {
  let lines = 0;
  for await (const chunk of readReportFile(report)) {
    for (const byte of chunk as Buffer) {
      lines += byte === 0x0a ? 1 : 0;
    }
  }
  return lines;
}

function peakMibOf({ pid }: RunningProcess): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

function resetPeak({ pid }: RunningProcess): void {
  fs.writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
