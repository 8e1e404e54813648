import { expect } from 'chai';
import { request } from 'undici';
import { apiClient, uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { runToEnd } from '../../support/run-to-end.js';
import { startStack, type Stack } from '../../support/stack.js';

describe('a web process without a required unique index', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ web: false });
  });
  after(() => stack.stop());

  it('is not ready, names the index, refuses purchases, and recovers by itself', async () => {
    const key = (await stack.seed())['buyer']?.api_key ?? '';
    const web = await stack.startWeb();
    const buyer = apiClient(web.url, key);
    await buyer.post('/api/buyer/deposit', { amount: 1_000_000, ref_id: uniqueRef() });
    await stack.db.collection('transactions').dropIndex('account_ref_unique');
    const fresh = await stack.startWeb();
    const call = apiClient(fresh.url, key);
    const ready = async () => (await request(`${fresh.url}/readyz`)).body.json() as Promise<object>;
    expect(await ready()).to.include({
      status: 'unavailable',
      mongodb: true,
      redis: true,
      reason:
        'A unique index is missing or wrong: transactions.account_ref_unique: it is missing: run node dist/scripts/migrate.js',
    });
    const body = { code: 'S10', customer_number: '081234567890', ref_id: uniqueRef() };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call.post('/api/buyer/transaction', body)),
    );
    expect(answers.map((each) => `${each.status} ${each.body.code}`)).to.deep.equal(
      answers.map(() => '503 03'),
    );
    expect(await stack.db.collection('transactions').countDocuments({})).to.equal(0);
    await runToEnd('scripts/migrate.js', [], stack.env);
    await eventually('it is ready', async () => (await request(`${fresh.url}/readyz`)).statusCode === 200);
    expect((await call.post('/api/buyer/transaction', body)).status).to.equal(200);
  });
});
