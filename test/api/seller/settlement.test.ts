import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer, type ApiClient } from '../../support/api-client.js';
import { deposit } from '../../support/deposit.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance } from '../../support/ledger.js';
import { startStack, type Stack } from '../../support/stack.js';

const bank_account = { bank_code: '014', account_number: '1234567890', account_name: 'PT Pulsa Jaya' };

describe('sales, balance and settlement of a seller', () => {
  let stack: Stack;
  let buyer: ApiClient;
  let seller: ApiClient;
  let other: ApiClient;

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    const accounts = await stack.seed();
    buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
    seller = apiClient(stack.baseUrl, accounts['seller']?.api_key ?? '');
    other = apiClient(stack.baseUrl, accounts['seller2']?.api_key ?? '');
    await deposit(buyer, 10_000_000);
  });
  after(() => stack.stop());

  /**
   * Repeats the request with the same ref_id after a 503, as a client must. A busy machine can
   * cause one.
   */
  const requestUntilAnswered = (body: object): Promise<Answer> =>
    eventually('an answer other than 503', async () => {
      const answer = await seller.post('/api/seller/settlement/request', body);
      return answer.status === 503 ? null : answer;
    });

  /**
   * Creates a product that only this seller offers, and sells it `times` times. Returns the product
   * code.
   */
  async function sell(price: number, times: number): Promise<string> {
    const code = uniqueRef('P').slice(0, 50);
    const created = await seller.post('/api/seller/products', {
      code,
      name: 'Test voucher',
      category: 'prabayar',
      subcategory: 'voucher',
      price,
    });
    expect(created.status).to.equal(201);
    for (let sale = 0; sale < times; sale++) {
      const bought = await eventually('the product is on sale', async () => {
        const answer = await buyer.post('/api/buyer/transaction', {
          code,
          customer_number: '081234567890',
          ref_id: uniqueRef(),
        });
        return answer.status === 200 ? answer : null;
      });
      expect(bought.body.data.price).to.equal(price);
    }
    return code;
  }

  it('a sale credits price − commission, hides the buyer and can be withdrawn', async () => {
    const before = (await seller.get('/api/seller/balance')).body.data.balance as number;
    const code = await sell(100_025, 2);
    // The fee is 2 % of 100,025, that is 2,000.5, rounded half up.
    await eventually('the balance has both sales', async () => {
      const { body } = await seller.get('/api/seller/balance');
      return body.data.balance === before + 2 * (100_025 - 2_001);
    });
    const history = await seller.post('/api/seller/transactions', {});
    const items = history.body.data.transactions.filter((each: { code: string }) => each.code === code);
    expect(items).to.have.length(2);
    expect(items[0]).to.include({
      commission_amount: 2_001,
      net_amount: 98_024,
      customer_number: '********7890',
    });
    expect(items[0]).not.to.have.any.keys('ref_id', 'account_id', 'username');
    expect(
      (await other.post('/api/seller/transactions', {})).body.data.transactions.some(
        (each: { code: string }) => each.code === code,
      ),
    ).to.equal(false);

    const refId = uniqueRef();
    const balance = (await seller.get('/api/seller/balance')).body.data.balance;
    const asked = await seller.post('/api/seller/settlement/request', {
      amount: 60_000,
      bank_account,
      ref_id: refId,
    });
    expect(asked.body).to.include({ status: 'success', code: '00' });
    expect(asked.body.data).to.include({ amount: 60_000, fee: 2_500, net_amount: 57_500, status: 'pending' });
    expect(new Date(asked.body.data.estimated_completion).toISOString()).to.match(/T10:00:00.000Z$/);
    await eventually('the settlement is completed', async () => {
      const { body } = await seller.get(`/api/seller/settlements/${asked.body.data.settlement_id}`);
      return body.data.status === 'completed';
    });
    expect((await seller.get('/api/seller/balance')).body.data).to.deep.equal({
      balance: balance - 60_000,
      pending_settlement: 0,
      currency: 'IDR',
    });
    const webhook = await stack.inbox.waitFor((each) => each.raw.includes('settlement.completed'));
    expect(JSON.parse(webhook.raw).data).to.deep.include({
      settlement_id: asked.body.data.settlement_id,
      ref_id: refId,
      net_amount: 57_500,
      status: 'completed',
      bank_account: { ...bank_account, account_number: '******7890' },
    });
    await expectLedgerToBalance(stack);
  });

  it('concurrent requests never hold more than the balance; the rest get 402/01', async () => {
    await sell(200_000, 2);
    await eventually(
      'the balance has the sales',
      async () => (await seller.get('/api/seller/balance')).body.data.balance >= 392_000,
    );
    const { balance } = (await seller.get('/api/seller/balance')).body.data;
    const amount = 50_000;
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => requestUntilAnswered({ amount, bank_account, ref_id: uniqueRef() })),
    );
    const accepted = answers.filter((each) => each.status === 200);
    expect(accepted).to.have.length(Math.floor(balance / amount));
    expect(answers.filter((each) => each.status === 402 && each.body.code === '01')).to.have.length(
      30 - accepted.length,
    );
    await eventually(
      'all settlements are completed',
      async () => (await seller.get('/api/seller/balance')).body.data.pending_settlement === 0,
    );
    await expectLedgerToBalance(stack);
  });

  it('20 concurrent requests with one ref_id are one settlement', async () => {
    await sell(100_000, 1);
    await eventually(
      'the balance has the sale',
      async () => (await seller.get('/api/seller/balance')).body.data.balance >= 98_000,
    );
    const body = { amount: 50_000, bank_account, ref_id: uniqueRef() };
    const answers = await Promise.all(Array.from({ length: 20 }, () => requestUntilAnswered(body)));
    expect(new Set(answers.map((each) => each.body.data.settlement_id)).size).to.equal(1);
    const conflict = await seller.post('/api/seller/settlement/request', { ...body, amount: 50_001 });
    expect(conflict.status).to.equal(409);
  });

  const invalid: [string, object, string][] = [
    ['amount below the minimum', { amount: 49_999, bank_account }, 'amount'],
    ['amount as a string', { amount: '60000', bank_account }, 'amount'],
    ['no bank account', { amount: 60_000 }, 'bank_account'],
    [
      'account number with letters',
      { amount: 60_000, bank_account: { ...bank_account, account_number: '12a45' } },
      'bank_account.account_number',
    ],
    [
      'account number of 4 digits',
      { amount: 60_000, bank_account: { ...bank_account, account_number: '1234' } },
      'bank_account.account_number',
    ],
    ['ref_id with a space', { amount: 60_000, bank_account, ref_id: 'a b' }, 'ref_id'],
  ];
  for (const [what, body, field] of invalid) {
    it(`${what} is refused with 400/01 naming ${field}`, async () => {
      const answer = await seller.post('/api/seller/settlement/request', body);
      expect(answer.status).to.equal(400);
      expect(answer.body.code).to.equal('01');
      expect(answer.body.errors.map((each: { field: string }) => each.field)).to.include(field);
    });
  }

  it('a buyer key gets 403/07, and another seller cannot see the settlement', async () => {
    expect(
      (await buyer.post('/api/seller/settlement/request', { amount: 60_000, bank_account })).status,
    ).to.equal(403);
    const mine = await stack.db.collection('settlements').findOne({});
    expect((await other.get(`/api/seller/settlements/${String(mine?._id)}`)).status).to.equal(404);
  });
});
