import { expect } from 'chai';
import { apiClient, uniqueRef } from '../../support/api-client.js';
import { expectLedgerToHold } from '../../support/ledger.js';
import { startStack, type Stack } from '../../support/stack.js';

describe('funds for half of the purchases', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  it('accepts 50 of 100 parallel purchases, refuses 50 with 402/01, leaves balance 0', async () => {
    const second = await stack.startWeb();
    const key = (await stack.seed())['buyer']?.api_key ?? '';
    const client = apiClient(stack.baseUrl, key);
    const other = apiClient(second.url, key);
    const price = (await client.post('/api/buyer/price-list', { operator: 'Telkomsel' })).body.data.find(
      (each: { code: string }) => each.code === 'S10',
    ).price;
    await client.post('/api/buyer/deposit', { amount: price * 50, ref_id: uniqueRef() });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? client : other).post('/api/buyer/transaction', {
          code: 'S10',
          customer_number: '081234567890',
          ref_id: uniqueRef(),
        }),
      ),
    );
    const statuses = answers.map((each) => each.status);
    expect(statuses.filter((each) => each === 200)).to.have.length(50);
    const refused = answers.filter((each) => each.status === 402);
    expect(refused).to.have.length(50);
    expect(refused[0]?.body).to.include({ status: 'error', code: '01', data: null });
    expect((await client.post('/api/buyer/balance')).body.data.balance).to.equal(0);
    expect(await stack.db.collection('transactions').countDocuments({})).to.equal(50);
    await expectLedgerToHold(stack);
  });
});
