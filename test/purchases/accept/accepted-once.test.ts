import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer, type ApiClient } from '../../support/api-client.js';
import { expectLedgerToHold } from '../../support/ledger.js';
import { sizes } from '../../support/sizes.js';
import { startStack, type SeededAccount, type Stack } from '../../support/stack.js';
import { requestPath } from '../../api/support/reseller.js';

/**
 * A repeated call returns the result of the first one, however the two overlap. An error would make
 * reseller software buy elsewhere, and its customer would receive the product twice.
 */
describe('concurrent calls with one ref_id at two web processes, with money for one', function () {
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
  afterEach(() => expectLedgerToHold(stack));

  const [one, other] = [() => clients[0] as ApiClient, () => clients[1] as ApiClient];
  const code = 'PLN100';

  /** Makes six concurrent calls, alternating between the two processes. */
  async function bothAtOnce(call: (client: ApiClient) => Promise<Answer>): Promise<Answer[]> {
    return Promise.all(Array.from({ length: 6 }, (_, index) => call(index % 2 === 0 ? one() : other())));
  }

  async function fundExactly(amount: number): Promise<void> {
    const { balance } = (await one().post('/api/buyer/balance')).body.data;
    const deposit = await one().post('/api/buyer/deposit', { amount: amount - balance, ref_id: uniqueRef() });
    expect(deposit.status).to.equal(200);
  }

  async function priceOf(product: string): Promise<number> {
    const list = (await one().post('/api/buyer/price-list')).body.data as { code: string; price: number }[];
    return list.find((each) => each.code === product)?.price ?? 0;
  }

  it('purchases: all answers name the same transaction', async () => {
    const price = await priceOf(code);
    for (let round = 0; round < sizes.acceptedOnce.rounds; round++) {
      await fundExactly(price);
      const body = { code, customer_number: '530000001230', ref_id: uniqueRef() };
      const answers = await bothAtOnce((client) => client.post('/api/buyer/transaction', body));
      expect(answers.map((each) => each.status)).to.deep.equal(answers.map(() => 200));
      expect(new Set(answers.map((each) => each.body.data.transaction_id)).size).to.equal(1);
    }
  });

  it('payments: all answers name the same transaction', async () => {
    for (let round = 0; round < sizes.acceptedOnce.rounds; round++) {
      const bill = { code: 'PLNPOST', customer_number: `5300${String(10_000_000 + round)}` };
      const quote = await one().post('/api/buyer/inquiry', bill);
      await fundExactly(quote.body.data.total_amount);
      const body = { ...bill, ref_id: uniqueRef() };
      const answers = await bothAtOnce((client) => client.post('/api/buyer/payment', body));
      expect(answers.map((each) => each.status)).to.deep.equal(answers.map(() => 200));
      expect(new Set(answers.map((each) => each.body.data.transaction_id)).size).to.equal(1);
    }
  });

  it('reseller requests: no answer has code 01', async () => {
    const price = await priceOf(code);
    for (let round = 0; round < sizes.acceptedOnce.rounds; round++) {
      await fundExactly(price);
      const signing = { username: account.username, key: account.api_key };
      const path = requestPath(signing, { code, customer: '530000001230', ref_id: uniqueRef() });
      const answers = await bothAtOnce((client) => client.get(path));
      expect(answers.map((each) => each.body.status).sort()).not.to.include('01');
    }
  });
});
