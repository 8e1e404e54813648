import { expect } from 'chai';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { deposit } from '../../support/deposit.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance } from '../../support/ledger.js';
import { startTcpGate, type Outage } from '../../support/outage.js';
import { startStack, type Stack } from '../../support/stack.js';

const responseTimeoutMs = 3_000;

describe('Redis outage', function () {
  this.timeout(120_000);
  let stack: Stack;
  let gate: Outage;
  let buyer: ApiClient;
  let seller: ApiClient;

  before(async () => {
    gate = await startTcpGate(process.env['REDIS_URL'] ?? '');
    stack = await startStack({ workers: ['all'], env: { REDIS_URL: gate.url } });
    const accounts = await stack.seed();
    buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
    seller = apiClient(stack.baseUrl, accounts['seller']?.api_key ?? '');
    await deposit(buyer, 10_000_000);
  });
  after(async () => {
    await gate.restore();
    await stack.stop();
    await gate.stop();
  });

  const buy = () =>
    buyer.post('/api/buyer/transaction', {
      code: 'S10',
      customer_number: '081234561230',
      ref_id: uniqueRef(),
    });
  const isSold = async (id: string) =>
    (await buyer.get(`/v1/transactions/${id}`)).body.data.status === 'SUCCESS';

  const outages: [name: string, begin: () => Promise<void> | void][] = [
    ['hangs', () => gate.hang()],
    ['refuses connections', () => gate.cut()],
  ];
  for (const [name, begin] of outages) {
    it(`${name}: accepts purchases in time and fulfils them afterwards without restart`, async () => {
      await begin();
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) {
        const startedAt = Date.now();
        const answer = await buy();
        expect(Date.now() - startedAt, 'ms until the answer').to.be.below(responseTimeoutMs);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        expect(answer.headers).to.include.keys('ratelimit-limit', 'ratelimit-remaining');
        ids.push(answer.body.data.transaction_id as string);
      }
      await gate.restore();
      for (const id of ids) {
        await eventually(`${id} is fulfilled`, () => isSold(id), 60_000);
      }
      const next = (await buy()).body.data.transaction_id as string;
      await eventually('a later purchase is fulfilled', () => isSold(next), 30_000);
      await expectLedgerToBalance(stack);
    });
  }

  for (const [name, begin] of outages) {
    it(`${name}: returns 503/03 in time if the call needs a worker, and debits nothing`, async () => {
      const balance = async () => (await buyer.post('/api/buyer/balance')).body.data.balance as number;
      const before = await balance();
      await begin();
      const bill = { code: 'PLNPOST', customer_number: '530000004321' };
      for (const ask of [
        () => buyer.post('/api/buyer/inquiry', bill),
        () => buyer.post('/api/buyer/payment', { ...bill, ref_id: uniqueRef() }),
      ]) {
        const startedAt = Date.now();
        const answer = await ask();
        expect(Date.now() - startedAt, 'ms until the answer').to.be.below(responseTimeoutMs);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(503);
        expect(answer.body).to.include({ status: 'error', code: '03' });
        expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
      }
      expect(await balance()).to.equal(before);
      await gate.restore();
    });
  }

  it('accepts reports in time and builds them soon after Redis returns', async () => {
    const ids: string[] = [];
    for (const [name, begin] of outages) {
      await begin();
      for (const _ of [1, 2]) {
        const startedAt = Date.now();
        const answer = await seller.post('/api/seller/reports', { type: 'sales' });
        expect(Date.now() - startedAt, `ms until the answer: ${name}`).to.be.below(responseTimeoutMs);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
        expect(answer.body).to.include({ status: 'success', code: '05' });
        expect(answer.body.data.status).to.equal('pending');
        ids.push(answer.body.data.report_id as string);
      }
      await gate.restore();
    }
    for (const id of ids) {
      const isMade = async () => (await seller.get(`/api/seller/reports/${id}`)).status === 200;
      await eventually(`report ${id} is ready`, isMade, 90_000);
    }
  });

  it('limits each process separately in the outage, and all together after it', async () => {
    await stack.db.collection('accounts').updateOne({ username: 'buyer2' }, { $set: { rateLimit: 5 } });
    const second = await stack.startWeb();
    const key = (await stack.seed())['buyer2']?.api_key ?? '';
    const clients = [apiClient(stack.baseUrl, key), apiClient(second.url, key)];
    await gate.cut();
    for (const client of clients) {
      const statuses = [];
      for (let n = 0; n < 8; n++) {
        statuses.push((await client.get('/v1/wallet/balance')).status);
      }
      expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429, 429, 429]);
    }
    await gate.restore();
    const other = (await stack.seed())['seller']?.api_key ?? '';
    await stack.db.collection('accounts').updateOne({ username: 'seller' }, { $set: { rateLimit: 1_000 } });
    const sellers = [apiClient(stack.baseUrl, other), apiClient(second.url, other)];
    const remaining = async (index: number) =>
      Number((await sellers[index]?.get('/api/seller/api/config'))?.headers['ratelimit-remaining']);
    await eventually('one count for both', async () => (await remaining(0)) === (await remaining(1)) + 1);
  });
});
