/**
 * The scheduled verification, and the checks of `topup doctor` for it and for queues without
 * workers.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Queue } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { findNoonZone } from '../support/noon-zone.js';
import { scrape, getMetricsUrl, valueOf } from '../support/scrape.js';
import { startStack, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';
import { topup } from '../support/topup.js';

interface StoredComparison {
  _id: string;
  sellerId: string;
  date: string;
  at: Date;
  different: number;
  differences: unknown[];
  accepted: unknown;
}

interface StoredVerification {
  _id: string;
  ok: boolean;
  failures: number;
  at: Date;
}

describe('scheduled self-checks', function () {
  this.timeout(120_000);
  let stack: Stack;
  let worker: RunningProgram;
  let redis: Redis;
  let watching: ChildProcess | null = null;
  const queue = (name: string) =>
    new Queue(name, { connection: redis, prefix: stack.env['QUEUE_PREFIX'] ?? '' });

  before(async () => {
    stack = await startStack({
      env: { BUSINESS_TIMEZONE: findNoonZone(), METRICS_PORT: '0', LOG_LEVEL: 'info' },
    });
    redis = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
    const buyer = (await stack.seed())['buyer']?.api_key ?? '';
    await apiClient(stack.baseUrl, buyer).post('/api/buyer/deposit', { amount: 50_000, ref_id: uniqueRef() });
    worker = await stack.startWorker('follow-up');
  });
  after(async () => {
    watching?.kill('SIGKILL');
    redis.disconnect();
    await stack.stop();
  });

  const verifications = () => stack.db.collection<StoredVerification>('ledgerVerifications');
  const doctor = async () => {
    const result = await topup(['doctor', '--json'], stack.env);
    const { checks } = result.json<{ checks: Diagnosis[] }>();
    const named = (name: string) => checks.find((each) => each.name === name);
    return { code: result.code, ledger: named('ledger'), record: named('record of seller'), named };
  };
  /** Runs another verification, as if an hour had passed. */
  const verifyAgain = async () => {
    await verifications().updateMany({}, { $set: { ok: false, at: new Date(Date.now() - 3_700_000) } });
    await queue('schedules').add('verify-ledger', { v: 1 });
  };

  it('verify the ledger daily, keep the result, and repeat a red one until green', async () => {
    const first = await eventually('the first verification', () => verifications().findOne({}), 60_000);
    expect(first).to.include({ ok: true, failures: 0 });
    expect((await doctor()).ledger).to.include({ status: 'ok' });
    await queue('schedules').add('verify-ledger', { v: 1 });

    const wallets = stack.db.collection('wallets');
    await wallets.updateOne({ balance: { $gt: 0 } }, { $inc: { balance: 1 } });
    await verifyAgain();
    await eventually(
      'it is red',
      async () => ((await verifications().findOne({}))?.failures ?? 0) > 0,
      60_000,
    );
    const { code, ledger } = await doctor();
    expect(code).to.equal(1);
    expect(ledger).to.include({ status: 'fail' });
    const url = await getMetricsUrl(worker);
    await eventually(
      'the metric counts failures',
      async () => (valueOf(await scrape(url), 'topup_ledger_verification_failures') ?? 0) > 0,
      60_000,
    );

    await wallets.updateOne({ balance: { $gt: 0 } }, { $inc: { balance: -1 } });
    await verifyAgain();
    await eventually('it is green', async () => (await verifications().findOne({}))?.ok === true, 60_000);
    expect((await doctor()).ledger).to.include({ status: 'ok' });
    expect(await verifications().countDocuments({})).to.equal(1);
  });

  it('compare provider records daily; a difference remains until resolved or accepted', async () => {
    const compared = stack.db.collection<StoredComparison>('providerReconciliations');
    const seller = await stack.db.collection<{ _id: string }>('accounts').findOne({ username: 'seller' });
    const done = () => compared.findOne({ sellerId: seller?._id ?? '' });
    const first = await eventually('the first comparison', done, 60_000);
    expect(first).to.include({ different: 0 });
    expect((await doctor()).record).to.include({ status: 'ok' });

    const orders = stack.db.collection<{ _id: string }>('attempts');
    const sold = (n: number) => ({
      _id: `not-in-their-record-${n}`,
      transactionId: `none-${n}`,
      accountId: 'none',
      n,
      sellerId: first.sellerId,
      status: 'OK',
      open: false,
      serialNumber: '1',
      createdAt: new Date(Date.now() - 86_400_000),
    });
    /** Runs another comparison, as if an hour had passed. */
    const compareAgain = async (isSo: (row: StoredComparison) => boolean) => {
      await compared.updateMany({}, { $set: { at: new Date(Date.now() - 3_700_000) } });
      await queue('schedules').add('reconcile-providers', { v: 1 });
      await eventually(
        'the new comparison',
        async () => {
          const row = await compared.findOne({ _id: first._id });
          return row !== null && isSo(row);
        },
        30_000,
      );
    };
    await orders.insertOne(sold(1));
    try {
      await compared.updateOne({ _id: first._id }, { $set: { different: 9 } });
      await compareAgain(({ different }) => different === 1);
      const red = await doctor();
      expect(red.code).to.equal(1);
      expect(red.record?.detail).to.equal(`differs from ours: ${first.date} (1)`);
      const url = await getMetricsUrl(worker);
      const readDifferences = async () =>
        valueOf(await scrape(url), 'topup_reconciliation_differences', { provider: first.sellerId });
      await eventually(
        'the metric counts one difference',
        async () => (await readDifferences()) === 1,
        60_000,
      );

      const accept = ['provider', 'accept', 'seller', first.date, '--reason', 'their mail of today'];
      expect((await topup(accept, stack.env)).code).to.equal(0);
      expect((await doctor()).record).to.include({ status: 'ok' });
      expect((await topup(accept, stack.env)).code, 'accept without differences').to.equal(1);
      const entry = await stack.db.collection('audit').findOne({ action: 'provider.accept-differences' });
      expect(entry).to.include({ reason: 'their mail of today' });

      await orders.insertOne(sold(2));
      const reconcile = ['reconcile', '--provider', 'seller', '--date', first.date];
      expect((await topup(reconcile, stack.env)).code).to.equal(1);
      expect((await doctor()).record, 'a new difference').to.include({ status: 'fail' });
    } finally {
      await orders.deleteMany({ _id: { $in: [sold(1)._id, sold(2)._id] } });
    }
    await compareAgain(({ different }) => different === 0);
    expect((await doctor()).record).to.include({ status: 'ok' });
  });

  it('compare a skipped day later; comparisons of today or of a file are not stored', async () => {
    const compared = stack.db.collection<StoredComparison>('providerReconciliations');
    const newest = await eventually(
      'the first comparison',
      () => compared.findOne({}, { sort: { _id: -1 } }),
      60_000,
    );
    const earlier = (days: number) =>
      new Date(new Date(newest.date).getTime() - days * 86_400_000).toISOString().slice(0, 10);
    await compared.insertOne({ ...newest, _id: `${newest.sellerId}:${earlier(2)}`, date: earlier(2) });
    await queue('schedules').add('reconcile-providers', { v: 1 });
    const left = { _id: `${newest.sellerId}:${earlier(1)}` };
    await eventually('the skipped day', () => compared.findOne(left), 30_000);

    const folder = await mkdtemp(path.join(tmpdir(), 'record-'));
    try {
      const file = path.join(folder, 'record.csv');
      await writeFile(file, 'ref_id,at,status\n');
      const before = await compared.find().sort({ _id: 1 }).toArray();
      const reconcile = (date: string) => ['reconcile', '--provider', 'seller', '--date', date];
      expect((await topup(reconcile(earlier(-1)), stack.env)).code, 'today').to.equal(0);
      expect((await topup([...reconcile(newest.date), '--file', file], stack.env)).code, 'a file').to.equal(
        0,
      );
      expect(await compared.find().sort({ _id: 1 }).toArray()).to.deep.equal(before);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('record when each scheduled job ran, and its counts', async () => {
    const runs = stack.db.collection<{ _id: string; did: Record<string, number> | null }>('clockRuns');
    const found = await eventually('its first run', () => runs.findOne({ _id: 'apply-retention' }), 60_000);
    expect(found.did).to.deep.equal({
      bills: 0,
      bankLines: 0,
      priceImportRows: 0,
      webhooks: 0,
      numbers: 0,
      left: 0,
    });
    await runs.updateOne({ _id: found._id }, { $set: { at: new Date(Date.now() - 3_700_000) } });
    const obsoleteRun = { _id: 'work-of-an-earlier-release', at: new Date(0), durationMs: 1, did: null };
    await runs.insertOne(obsoleteRun);
    const late = await doctor();
    expect(late.named('clock: apply-retention')).to.include({ status: 'fail' });
    expect(late.named('clock: apply-retention')?.detail).to.match(
      /^last done at 20\S+ \S+ \S+ in \d+ ms, (\w+ 0, ){5}\w+ 0$/,
    );
    expect(late.named('clock: close-ledger')).to.include({ status: 'ok' });
    expect(late.named(`clock: ${obsoleteRun._id}`)).to.equal(undefined);
    await runs.updateOne({ _id: found._id }, { $set: { at: new Date() } });
    const well = (await doctor()).named('clock: apply-retention');
    expect(well).to.include({ status: 'ok' });
    expect(well?.detail).to.match(/\d; next by 20\S+ \S+ \S+$/);
  });

  it('topup doctor --watch reports jobs without workers and exits with 1', async () => {
    const child = spawn(
      process.execPath,
      [getBuiltProgramPath('scripts/topup.js'), 'doctor', '--watch', '--json'],
      {
        env: stack.env,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    watching = child;
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const looks = () => printed.split('"at": ').length - 1;
    await eventually('the first round of checks', () => looks() >= 1, 60_000);
    expect(printed).not.to.include('No worker takes its jobs');
    await queue('reports').add('generate-report', { v: 1, reportId: 'none', accountId: 'none' });
    await eventually('the problem is printed', () => printed.includes('No worker takes its jobs'), 60_000);
    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).to.equal(1);
  });
});
