import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance } from '../../support/ledger.js';
import { repeatUntilAnswered } from '../../support/purchases.js';
import { sizes } from '../../support/sizes.js';
import { startStack, type SeededAccount, type Stack } from '../../support/stack.js';
import { requestPath } from '../../api/support/reseller.js';

/**
 * A repeated call returns the result of the first call, however the two overlap. An error would
 * make reseller software buy elsewhere, and its customer would get the product twice.
 */
describe('concurrent calls at two web processes', function () {
  this.timeout(sizes.acceptedOnce.limitMs);
  let stack: Stack;
  let account: SeededAccount;
  let clients: ApiClient[];

  before(async () => {
    stack = await startStack({ workers: ['all'], env: { RESELLER_SYNC_WAIT_MS: '0' } });
    const second = await stack.startWeb();
    account = (await stack.seed())['buyer'] as SeededAccount;
    clients = [stack.baseUrl, second.url].map((url) => apiClient(url, account.api_key));
  });
  after(() => stack.stop());
  afterEach(() => expectLedgerToBalance(stack));

  const [one, other] = [() => clients[0] as ApiClient, () => clients[1] as ApiClient];
  const code = 'PLN100';

  /** Makes six concurrent calls, three at each process. */
  async function callBothAtOnce(call: (client: ApiClient) => Promise<Answer>): Promise<Answer[]> {
    return Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        repeatUntilAnswered(() => call(index % 2 === 0 ? one() : other())),
      ),
    );
  }

  async function fundExactly(amount: number): Promise<void> {
    const { balance } = (await one().post('/api/buyer/balance')).body.data;
    const asked = { amount: amount - balance, ref_id: uniqueRef() };
    const deposit = await repeatUntilAnswered(() => one().post('/api/buyer/deposit', asked));
    expect(deposit.status).to.equal(200);
  }

  async function priceOf(product: string): Promise<number> {
    const list = (await one().post('/api/buyer/price-list')).body.data as { code: string; price: number }[];
    return list.find((each) => each.code === product)?.price ?? 0;
  }

  it('with money for 50 of 100 purchases, 50 are accepted and 50 get 402/01', async () => {
    await fundExactly(50 * (await priceOf('S10')));
    const refs = Array.from({ length: 100 }, () => uniqueRef());
    const answers = await Promise.all(
      refs.map((ref_id, index) => {
        const body = { code: 'S10', customer_number: '081234567890', ref_id };
        const client = index % 2 === 0 ? one() : other();
        return repeatUntilAnswered(() => client.post('/api/buyer/transaction', body));
      }),
    );
    expect(answers.filter((each) => each.status === 200)).to.have.length(50);
    const refused = answers.filter((each) => each.status === 402);
    expect(refused).to.have.length(50);
    expect(refused[0]?.body).to.include({ status: 'error', code: '01', data: null });
    expect((await one().post('/api/buyer/balance')).body.data.balance).to.equal(0);
    const stored = { refId: { $in: refs } };
    expect(await stack.db.collection('transactions').countDocuments(stored)).to.equal(50);
  });

  it('purchases with one ref_id, money for one: all responses name one transaction', async () => {
    const price = await priceOf(code);
    for (let round = 0; round < sizes.acceptedOnce.rounds; round++) {
      await fundExactly(price);
      const body = { code, customer_number: '530000001230', ref_id: uniqueRef() };
      const answers = await callBothAtOnce((client) => client.post('/api/buyer/transaction', body));
      expect(answers.map((each) => each.status)).to.deep.equal(answers.map(() => 200));
      expect(new Set(answers.map((each) => each.body.data.transaction_id)).size).to.equal(1);
    }
  });

  it('payments with one ref_id, money for one: all responses name one transaction', async () => {
    for (let round = 0; round < sizes.acceptedOnce.rounds; round++) {
      const bill = { code: 'PLNPOST', customer_number: `5300${String(10_000_000 + round)}` };
      const quote = await repeatUntilAnswered(() => one().post('/api/buyer/inquiry', bill));
      await fundExactly(quote.body.data.total_amount);
      const body = { ...bill, ref_id: uniqueRef() };
      const answers = await callBothAtOnce((client) => client.post('/api/buyer/payment', body));
      expect(answers.map((each) => each.status)).to.deep.equal(answers.map(() => 200));
      expect(new Set(answers.map((each) => each.body.data.transaction_id)).size).to.equal(1);
    }
  });

  it('reseller requests with one ref_id, money for one: no response has code 01', async () => {
    const price = await priceOf(code);
    for (let round = 0; round < sizes.acceptedOnce.rounds; round++) {
      await fundExactly(price);
      const signing = { username: account.username, key: account.api_key };
      const path = requestPath(signing, { code, customer: '530000001230', ref_id: uniqueRef() });
      const answers = await callBothAtOnce((client) => client.get(path));
      expect(answers.map((each) => each.body.status).sort()).not.to.include('01');
    }
  });

  it('200 concurrent purchases cause one debit, one execution and 200 equal responses', async () => {
    await fundExactly(1_000_000);
    const refId = uniqueRef();
    const body = { code: 'S10', customer_number: '081234567890', ref_id: refId };
    const before = (await one().post('/api/buyer/balance')).body.data.balance;
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        repeatUntilAnswered(() => one().post('/api/buyer/transaction', body)),
      ),
    );
    expect([...new Set(answers.map((each) => each.status))]).to.deep.equal([200]);
    const ids = new Set(answers.map((each) => each.body.data.transaction_id));
    expect(ids.size).to.equal(1);
    expect(
      answers.filter((each) => each.body.code === '00' && each.body.data.status === 'pending'),
    ).to.have.length.of.at.least(1);
    const done = await eventually('the purchase is final', async () => {
      const { body: now } = await one().get(`/v1/transactions/${refId}`);
      return now.data.status === 'SUCCESS' ? now.data : null;
    });
    const last = (await one().post('/api/buyer/transaction', body)).body;
    expect([last.code, last.data.status]).to.deep.equal(['00', 'success']);
    const after = (await one().post('/api/buyer/balance')).body.data.balance;
    expect(before - after).to.equal(done.price);
    expect(await stack.db.collection('transactions').countDocuments({ refId })).to.equal(1);
    const log = await stack.simulator.log();
    expect(log.filter((row) => row.ref_id.startsWith(done.id))).to.have.length(1);
  });

  it('a repeat of a failed purchase returns the failure and does not revive it', async () => {
    await fundExactly(2_000_000);
    const refId = uniqueRef();
    const body = { code: 'S10', customer_number: '081234561232', ref_id: refId };
    await one().post('/api/buyer/transaction', body);
    await eventually(
      'the purchase has failed',
      async () => (await one().get(`/v1/transactions/${refId}`)).body.data.status === 'FAILED',
    );
    const repeat = await one().post('/api/buyer/transaction', body);
    expect(repeat.body).to.deep.include({ status: 'success', code: '00' });
    expect(repeat.body.data.status).to.equal('failed');
    expect(await stack.db.collection('transactions').countDocuments({ refId })).to.equal(1);
  });
});
