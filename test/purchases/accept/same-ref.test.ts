import { expect } from 'chai';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToHold } from '../../support/ledger.js';
import { startStack, type Stack } from '../../support/stack.js';

describe('concurrent calls with one ref_id', () => {
  let stack: Stack;
  let buyer: ApiClient;
  let accountId: string;

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    const accounts = await stack.seed();
    buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
    accountId = String((await stack.db.collection('accounts').findOne({ username: 'buyer' }))?._id);
    await buyer.post('/api/buyer/deposit', { amount: 1_000_000, ref_id: uniqueRef() });
  });
  after(() => stack.stop());

  it('200 concurrent purchases cause one debit, one execution and 200 equal answers', async () => {
    const refId = uniqueRef();
    const body = { code: 'S10', customer_number: '081234567890', ref_id: refId };
    const before = (await buyer.post('/api/buyer/balance')).body.data.balance;
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => buyer.post('/api/buyer/transaction', body)),
    );
    expect([...new Set(answers.map((each) => each.status))]).to.deep.equal([200]);
    const ids = new Set(answers.map((each) => each.body.data.transaction_id));
    expect(ids.size).to.equal(1);
    expect(
      answers.filter((each) => each.body.code === '00' && each.body.data.status === 'pending'),
    ).to.have.length.of.at.least(1);
    const done = await eventually('the purchase is final', async () => {
      const { body: now } = await buyer.get(`/v1/transactions/${refId}`);
      return now.data.status === 'SUCCESS' ? now.data : null;
    });
    const last = (await buyer.post('/api/buyer/transaction', body)).body;
    expect([last.code, last.data.status]).to.deep.equal(['00', 'success']);
    const after = (await buyer.post('/api/buyer/balance')).body.data.balance;
    expect(before - after).to.equal(done.price);
    expect(await stack.db.collection('transactions').countDocuments({ accountId, refId })).to.equal(1);
    const log = await stack.simulator.log();
    expect(log.filter((row) => row.ref_id.startsWith(done.id))).to.have.length(1);
    await expectLedgerToHold(stack);
  });

  it('a repeat of a failed purchase returns the failure and does not revive it', async () => {
    const refId = uniqueRef();
    const body = { code: 'S10', customer_number: '081234561232', ref_id: refId };
    await buyer.post('/api/buyer/transaction', body);
    await eventually(
      'the purchase has failed',
      async () => (await buyer.get(`/v1/transactions/${refId}`)).body.data.status === 'FAILED',
    );
    const repeat = await buyer.post('/api/buyer/transaction', body);
    expect(repeat.body).to.deep.include({ status: 'success', code: '00' });
    expect(repeat.body.data.status).to.equal('failed');
    expect(await stack.db.collection('transactions').countDocuments({ accountId, refId })).to.equal(1);
  });
});
