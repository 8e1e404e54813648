/**
 * Worker and web processes handle a report of any size in constant memory and lose no row. The long
 * size has a million transactions.
 */
import { expect } from 'chai';
import { Unzip, UnzipInflate } from 'fflate';
import { setTimeout } from 'node:timers/promises';
import { apiClient, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { watchMemory, type MemoryWatch } from '../../support/memory-watch.js';
import { inParallel } from '../../support/purchases.js';
import { sizes } from '../../support/sizes.js';
import { startStack, type Stack } from '../../support/stack.js';
import type { RunningProgram } from '../../support/start-program.js';
import {
  addRow,
  insertTransactions,
  createEmptySums,
  buildRef,
  type Sums,
} from './support/bulk-transactions.js';
import { download, type Download } from './support/download.js';

const { rows: count, heap, limitMs } = sizes.report;
/** Maximum memory above idle for each process, in megabytes. */
const growthMax = { worker: 200, web: 100 };

describe(`a report over ${count.toLocaleString('en')} transactions`, function () {
  this.timeout(limitMs);
  let stack: Stack;
  let expected: Sums;
  const keys = { buyer: '', seller: '' };

  before(async () => {
    stack = await startStack({ web: false, env: { NODE_OPTIONS: heap } });
    const accounts = await stack.seed();
    const idOf = async (username: string) =>
      String((await stack.db.collection('accounts').findOne({ username }))?._id);
    keys.buyer = accounts['buyer']?.api_key ?? '';
    keys.seller = accounts['seller2']?.api_key ?? '';
    expected = await insertTransactions(stack, {
      buyerId: await idOf('buyer'),
      sellerId: await idOf('seller2'),
      count,
    });
  });
  after(async () => stack.stop());

  for (const { role, type, format } of [
    { role: 'buyer', type: 'transaction', format: 'csv' },
    { role: 'seller', type: 'sales', format: 'json' },
    { role: 'buyer', type: 'transaction', format: 'xlsx' },
  ] as const) {
    it(`${role} ${type} as ${format}: constant memory, every row and correct sums`, async () => {
      const server = await stack.startWeb({ REPORT_SYNC_WAIT_MS: '0', NODE_OPTIONS: '' });
      const worker = await stack.startWorker('reports');
      await warmUp(apiClient(server.url, keys[role]));
      const [web, memory] = await Promise.all([watchMemory(server.pid), watchMemory(worker.pid)]);
      const startedAt = Date.now();
      const report = await reportOf(apiClient(server.url, keys[role]), worker, role, { type, format });
      const seconds = (Date.now() - startedAt) / 1_000;
      expect(report.rows).to.equal(count);
      expect(report.summary).to.include({
        total_transactions: expected.rows,
        success_transactions: expected.successRows,
        failed_transactions: expected.failedRows,
        ...(role === 'buyer'
          ? { total_amount: expected.total, success_amount: expected.success }
          : {
              total_revenue: expected.total,
              success_revenue: expected.success,
              commission_amount: expected.commission,
            }),
      });

      // The client reads slowly at first. Meanwhile the web process must not buffer the rest of the
      // file.
      const { pathname, search } = new URL(report.download_url as string);
      const file = await download(server.url + pathname + search, {
        pace: { pieces: 40, wait: () => setTimeout(25) },
      });
      const sums = await readers[format](file);
      [memory, web].forEach((each) => each.stop());
      process.stdout.write(
        `      ${format}: ${seconds.toFixed(1)} s, ${file.bytes()} bytes; worker ${formatMemory(memory)}; web ${formatMemory(web)}\n`,
      );
      expect(file.bytes()).to.equal(report.size);
      expect(sums).to.deep.equal(role === 'buyer' ? { ...expected, commission: 0 } : expected);
      expect(memory.growth(), 'MB of growth of the worker').to.be.below(growthMax.worker);
      expect(web.growth(), 'MB of growth of the web process').to.be.below(growthMax.web);
      await Promise.all([server.stop(), worker.stop()]);
    });
  }
});

/**
 * Sends some requests before the measurement: the heap of an unused process is too small for a
 * baseline.
 */
async function warmUp(client: ApiClient): Promise<void> {
  const calls = Array.from({ length: 300 }, (_, index) => index);
  await inParallel(calls, 10, async () => {
    expect((await client.get('/readyz')).status).to.equal(200);
  });
}

/**
 * Waits until the report is complete. Fails immediately if the worker exits, with the worker's last
 * output.
 */
async function reportOf(client: ApiClient, worker: RunningProgram, role: string, body: object) {
  const asked = await client.post(`/api/${role}/reports`, body);
  expect(asked.status).to.equal(202);
  const report = await eventually(
    'the report is ready',
    async () => {
      if (worker.process.exitCode !== null || worker.process.signalCode !== null) {
        return { ended: worker.output().slice(-2_000) };
      }
      const { status, body: now } = await client.get(`/api/${role}/reports/${asked.body.data.report_id}`);
      return status === 200 && now.data;
    },
    limitMs / 2,
  );
  expect(report, 'worker exited').not.to.have.property('ended');
  return report;
}

/** Expects every row in order from newest to oldest. Returns the sums. */
async function csvSums(file: Download): Promise<Sums> {
  const sums = createEmptySums();
  const lines = file.lines();
  expect((await lines.next()).value).to.match(/^ref_id,.*,price,status,/);
  for await (const line of lines) {
    const [ref = '', , , , , price, status = ''] = line.split(',');
    const wanted = buildRef(count - 1 - sums.rows);
    if (ref !== wanted) {
      expect.fail(`row ${sums.rows} is ${ref}, not ${wanted}`);
    }
    addRow(sums, { status, amount: Number(price), commission: 0 });
  }
  return sums;
}

async function jsonSums(file: Download): Promise<Sums> {
  const sums = createEmptySums();
  for await (const line of file.lines()) {
    if (line.startsWith('{')) {
      const item = JSON.parse(line.replace(/,$/, ''));
      addRow(sums, { status: item.status, amount: item.price, commission: item.commission_amount });
    }
  }
  return sums;
}

/** Returns the sums of the first sheet, which holds all rows at every size of this test. */
async function xlsxSums(file: Download): Promise<Sums> {
  const sums = createEmptySums();
  const unpacked = new TextDecoder();
  let rest = '';
  const unzip = new Unzip((entry) => {
    entry.ondata = (error, piece) => {
      expect(error).to.equal(null);
      if (entry.name === 'xl/worksheets/sheet1.xml') {
        const rows = (rest + unpacked.decode(piece, { stream: true })).split('</row>');
        rest = rows.pop() ?? '';
        rows.forEach((row) => {
          addXlsxRow(sums, row);
        });
      }
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  for await (const piece of file.pieces()) {
    unzip.push(piece);
  }
  unzip.push(new Uint8Array(0), true);
  return sums;
}

function addXlsxRow(sums: Sums, xml: string): void {
  const textOf = (column: string) =>
    new RegExp(`r="${column}\\d+" t="inlineStr"><is><t[^>]*>([^<]*)`).exec(xml)?.[1];
  const price = /r="F\d+"><v>(\d+)/.exec(xml)?.[1];
  const ref = textOf('A');
  if (ref !== 'ref_id') {
    expect(ref).to.equal(buildRef(count - 1 - sums.rows));
    addRow(sums, { status: textOf('G') ?? '', amount: Number(price), commission: 0 });
  }
}

const readers = { csv: csvSums, json: jsonSums, xlsx: xlsxSums };

function formatMemory(memory: MemoryWatch): string {
  return `idle ${memory.idle.toFixed(0)} MB, peak ${memory.peak().toFixed(0)} MB`;
}
