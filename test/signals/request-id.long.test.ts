/**
 * A request id appears in the client's call, its purchase, jobs, webhooks and log lines, without
 * tracing.
 */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { request } from 'undici';
import type { Delivery } from '../../src/webhooks/deliver/delivery.model.js';
import type { Report } from '../../src/reports/report.model.js';
import type { Settlement } from '../../src/settlements/settlement.model.js';
import type { Purchase } from '../../src/purchases/purchase.model.js';
import { waitUntilFinal } from '../providers/provider-stack.js';
import { uniqueRef } from '../support/api-client.js';
import { consoleClient } from '../support/console-client.js';
import { eventually } from '../support/eventually.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';
import { topup } from '../support/topup.js';

interface Line {
  message: string;
  purchaseId?: string;
  deliveryId?: string;
  requestId?: string;
}

interface Ids {
  transaction_id: string;
  report_id: string;
  settlement_id: string;
}

describe('request id', function () {
  this.timeout(120_000);
  let stack: Stack;
  let accounts: Record<string, SeededAccount>;
  let worker: RunningProgram;

  before(async () => {
    // The web process must not wait for reports.
    stack = await startStack({ env: { LOG_LEVEL: 'info', REPORT_SYNC_WAIT_MS: '1' } });
    accounts = await stack.seed();
    worker = await stack.startWorker('all');
    await call('/api/buyer/deposit', { amount: 5_000_000, ref_id: uniqueRef() });
  });
  after(() => stack.stop());

  async function call(path: string, body: object, requestId?: string, as = 'buyer') {
    const answer = await request(`${stack.baseUrl}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${accounts[as]?.api_key ?? ''}`,
        'content-type': 'application/json',
        ...(requestId !== undefined && { 'x-request-id': requestId }),
      },
      body: JSON.stringify(body),
    });
    const { data } = (await answer.body.json()) as { data: Ids };
    return { data, told: String(answer.headers['x-request-id']) };
  }
  async function buy(requestId?: string, code = 'S10'): Promise<Purchase & { told: string }> {
    const body = { code, customer_number: '081234561230', ref_id: uniqueRef('asked') };
    const answer = await call('/api/buyer/transaction', body, requestId);
    return { ...(await waitUntilFinal(stack, answer.data.transaction_id)), told: answer.told };
  }
  const report = async (requestId: string): Promise<string> =>
    (await call('/api/buyer/reports', { type: 'purchase' }, requestId)).data.report_id;
  const withdraw = async (requestId: string): Promise<string> => {
    const bank_account = { bank_code: 'BCA', account_number: '1234567890', account_name: 'Seller One' };
    const asked = await call(
      '/api/seller/settlement/request',
      { amount: 50_000, bank_account },
      requestId,
      'seller',
    );
    return asked.data.settlement_id;
  };
  const linesOf = (id: string): Line[] =>
    worker
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes(id))
      .map((line) => JSON.parse(line) as Line);
  const delivered = (orderKey: string) =>
    eventually('the webhook is delivered', () =>
      stack.db.collection<Delivery>('deliveries').findOne({ orderKey, state: 'delivered' }),
    );

  it('is stored on purchase and deliveries, and in each of their log lines', async () => {
    for (const own of [undefined, 'complaint-7f31']) {
      const { _id, requestId, told } = await buy(own);
      expect([requestId, told]).to.deep.equal([told, own ?? told]);
      const row = await delivered(_id);
      expect(row.requestId).to.equal(told);
      const lines = await eventually('the log has its webhook attempt', () => {
        const found = linesOf(_id);
        return found.some(({ message }) => message === 'webhook attempt') ? found : null;
      });
      expect(lines.map(({ message }) => message)).to.include('provider responded');
      for (const line of lines) {
        expect(line.requestId, line.message).to.equal(told);
      }
    }
  });

  it('is in the log lines of a failed job, also if a sweep added it', async () => {
    const transactions = stack.db.collection<Purchase>('transactions');
    await worker.stop();
    const body = () => ({ code: 'S10', customer_number: '081234561230', ref_id: uniqueRef('asked') });
    const asked = await Promise.all(
      ['complaint-8a22', 'complaint-8a23'].map((id) => call('/api/buyer/transaction', body(), id)),
    );
    const ids = asked.map(({ data }) => data.transaction_id);
    // Without createdAt, every worker fails on the purchase.
    await transactions.updateMany({ _id: { $in: ids } }, { $unset: { createdAt: 1 } });
    const redis = new Redis(process.env['REDIS_URL'] ?? '');
    const keys = await redis.keys(`${stack.env['QUEUE_PREFIX']}:fulfilment*`);
    const marks = keys.filter((key) => key.includes(ids[0] ?? ''));
    const jobs = await Promise.all(marks.map((mark) => redis.get(mark)));
    expect(jobs).to.have.length(1);
    // Delete the job of one purchase.
    await redis.del(...marks, ...keys.filter((key) => key.endsWith(`:${jobs[0]}`)));
    redis.disconnect();
    const overdue = { nextActionAt: new Date(Date.now() - 1_000) };
    await transactions.updateMany({ _id: { $in: ids } }, { $set: overdue });
    worker = await stack.startWorker('all');
    for (const { data, told } of asked) {
      const line = await eventually(
        'the job fails',
        () => linesOf(data.transaction_id).find(({ message }) => message.startsWith('job failed')) ?? null,
        60_000,
      );
      expect(line.requestId).to.equal(told);
    }
  });

  it('is stored on reports and settlements, and in the log lines of their workers', async () => {
    // Make a sale for the seller, so that it can withdraw.
    await buy(undefined, 'S1000');
    const reportId = await report('complaint-r001');
    const settlementId = await withdraw('complaint-s001');
    const row = await eventually('the webhook is delivered', () =>
      stack.db
        .collection<Delivery>('deliveries')
        .findOne({ _id: `${settlementId}-completed`, state: 'delivered' }),
    );
    expect(row.requestId).to.equal('complaint-s001');
    for (const [collection, id, told, messages] of [
      ['reports', reportId, 'complaint-r001', ['report generated']],
      [
        'settlements',
        settlementId,
        'complaint-s001',
        ['settlement payout started', 'settlement paid out', 'webhook attempt'],
      ],
    ] as const) {
      expect(await stack.db.collection<{ _id: string }>(collection).findOne({ _id: id })).to.include({
        requestId: told,
      });
      const lines = await eventually('the log has all its lines', () => {
        const found = linesOf(id);
        const logged = new Set(found.map(({ message }) => message));
        return messages.every((message) => logged.has(message)) ? found : null;
      });
      for (const line of lines) {
        expect(line.requestId, line.message).to.equal(told);
      }
    }
  });

  it('is in the log lines of their failed jobs, also if a sweep added the job', async () => {
    await worker.stop();
    // Two reports are generated at once, and the third is queued.
    const asked = new Map<string, string>();
    for (const requestId of ['complaint-r002', 'complaint-r003', 'complaint-r004']) {
      asked.set(await report(requestId), requestId);
    }
    // Delete the job of this settlement as well.
    const lost = await withdraw('complaint-s002');
    asked.set(lost, 'complaint-s002');
    const waiting = await stack.db.collection<Report>('reports').findOne({ requestId: 'complaint-r004' });
    expect(waiting?.turn).to.equal(null);
    // Damage a report and a settlement, so that every worker fails on them.
    await stack.db
      .collection<Report>('reports')
      .updateOne({ requestId: 'complaint-r004' }, { $unset: { period: 1 } });
    await stack.db
      .collection<Settlement>('settlements')
      .updateOne({ _id: lost }, { $unset: { bankAccount: 1 }, $set: { nextActionAt: new Date(0) } });
    const redis = new Redis(process.env['REDIS_URL'] ?? '');
    const keys = await redis.keys(`${stack.env['QUEUE_PREFIX']}:settlements*`);
    expect(keys.some((key) => key.includes(lost))).to.equal(true);
    await redis.del(...keys);
    redis.disconnect();
    worker = await stack.startWorker('all');
    for (const [id, told] of asked) {
      const fails = ['complaint-r004', 'complaint-s002'].includes(told);
      const line = await eventually(
        `the log line of ${told}`,
        () =>
          linesOf(id).find(({ message }) =>
            fails ? message.startsWith('job failed') : message === 'report generated',
          ) ?? null,
        60_000,
      );
      expect(line.requestId, line.message).to.equal(told);
    }
  });

  it('is shown in the console and by topup transaction show, if there is one', async () => {
    const { _id, told } = await buy('complaint-9c01');
    const operator = consoleClient(stack.baseUrl, '198.51.100.9');
    await operator.login('admin', accounts['admin']?.password ?? '');
    const page = async () => {
      const { text } = await operator.get(`/admin/api/purchases/${_id}`);
      return (JSON.parse(text) as { data: { request_id: string | null } }).data;
    };
    const shown = async () => (await topup(['transaction', 'show', _id], stack.env)).stdout;
    expect((await page()).request_id).to.equal(told);
    expect(await shown()).to.match(new RegExp(`request +${told}`));
    await stack.db.collection<Purchase>('transactions').updateOne({ _id }, { $unset: { requestId: 1 } });
    expect((await page()).request_id).to.equal(null);
    expect(await shown()).not.to.match(/^request/m);
  });

  it('is not stored if it is a key or a number', async () => {
    const key = accounts['buyer']?.api_key ?? '';
    const { requestId } = await buy(key);
    expect(requestId).to.match(/^[0-9a-f]{32}$/);
    const numbered = await buy('081234561230');
    expect(numbered.told, 'id without a key or number').to.equal('081234561230');
    expect(numbered.requestId).to.equal(undefined);
    expect((await delivered(numbered._id)).requestId).to.equal(undefined);
    expect(linesOf(numbered._id).some((line) => line.requestId !== undefined)).to.equal(false);
    expect(worker.output()).not.to.include(key);
  });
});
