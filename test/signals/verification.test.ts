/** The verification by the clock, and what the doctor says of it and of work that nobody takes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Queue } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { builtProgram } from '../../config/project-file.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { noonZone } from '../support/noon-zone.js';
import { scrape, signalsOf, valueOf } from '../support/scrape.js';
import { startStack, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';
import { topup } from '../support/topup.js';

interface Kept {
  _id: string;
  ok: boolean;
  failures: number;
  at: Date;
}

describe('what watches the service by itself', function () {
  this.timeout(120_000);
  let stack: Stack;
  let worker: RunningProgram;
  let redis: Redis;
  let watching: ChildProcess | null = null;
  const queue = (name: string) =>
    new Queue(name, { connection: redis, prefix: stack.env['QUEUE_PREFIX'] ?? '' });

  before(async () => {
    stack = await startStack({
      env: { BUSINESS_TIMEZONE: noonZone(), METRICS_PORT: '0', LOG_LEVEL: 'info' },
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

  const kept = () => stack.db.collection<Kept>('ledgerVerifications');
  const doctor = async () => {
    const result = await topup(['doctor', '--json'], stack.env);
    const { checks } = result.json<{ checks: Diagnosis[] }>();
    return { code: result.code, ledger: checks.find(({ name }) => name === 'ledger') };
  };
  /** As if an hour had passed since the last one. */
  const verifyAgain = async () => {
    await kept().updateMany({}, { $set: { ok: false, at: new Date(Date.now() - 3_700_000) } });
    await queue('schedules').add('verify-ledger', { v: 1 });
  };

  it('the ledger is verified once a day, the result is kept and shown, and a red one is repeated until it is green', async () => {
    const first = await eventually('the first verification', () => kept().findOne({}), 60_000);
    expect(first).to.include({ ok: true, failures: 0 });
    expect((await doctor()).ledger).to.include({ status: 'ok' });
    await queue('schedules').add('verify-ledger', { v: 1 });

    const wallets = stack.db.collection('wallets');
    await wallets.updateOne({ balance: { $gt: 0 } }, { $inc: { balance: 1 } });
    await verifyAgain();
    await eventually('it to be red', async () => ((await kept().findOne({}))?.failures ?? 0) > 0, 60_000);
    const { code, ledger } = await doctor();
    expect(code).to.equal(1);
    expect(ledger).to.include({ status: 'fail' });
    const url = await signalsOf(worker);
    await eventually(
      'the metric',
      async () => (valueOf(await scrape(url), 'topup_ledger_verification_failures') ?? 0) > 0,
      60_000,
    );

    await wallets.updateOne({ balance: { $gt: 0 } }, { $inc: { balance: -1 } });
    await verifyAgain();
    await eventually('it to be green', async () => (await kept().findOne({}))?.ok === true, 60_000);
    expect((await doctor()).ledger).to.include({ status: 'ok' });
    expect(await kept().countDocuments({})).to.equal(1);
  });

  it('topup doctor --watch tells when work begins to wait that nobody takes, and its exit code is 1 then', async () => {
    const child = spawn(process.execPath, [builtProgram('scripts/topup.js'), 'doctor', '--watch', '--json'], {
      env: stack.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    watching = child;
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const looks = () => printed.split('"at": ').length - 1;
    await eventually('the first look', () => looks() >= 1, 60_000);
    expect(printed).not.to.include('Nobody takes its jobs');
    await queue('reports').add('generate-report', { v: 1, reportId: 'none', accountId: 'none' });
    await eventually('it to be told', () => printed.includes('Nobody takes its jobs'), 60_000);
    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).to.equal(1);
  });
});
