import { expect } from 'chai';
import { createResellerRequest } from '../../../src/api/reseller/create-request.js';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { deposit } from '../../support/deposit.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance } from '../../support/ledger.js';
import { startStack, type Stack } from '../../support/stack.js';
import { expectReseller } from '../support/expect-answer.js';
import { requestPath } from '../support/reseller.js';

describe('GET /api/reseller/request with workers', () => {
  let stack: Stack;
  let buyer: ApiClient;
  let signing: { username: string; key: string };

  before(async () => {
    stack = await startStack({ workers: ['all'] });
    signing = { username: 'buyer', key: (await stack.seed())['buyer']?.api_key ?? '' };
    buyer = apiClient(stack.baseUrl, signing.key);
    await deposit(buyer, 10_000_000);
  });
  after(() => stack.stop());

  const purchase = (customer: string) => ({ code: 'S10', customer, ref_id: uniqueRef() });
  const buy = (asked: ReturnType<typeof purchase>) => buyer.get(requestPath(signing, asked));

  it('a fast provider: 00 with the sn at once, and the same on every repeat', async () => {
    const asked = purchase('081234561230');
    const answer = await buy(asked);
    expectReseller(answer, createResellerRequest, {
      status: '00',
      ref_id: asked.ref_id,
      transaction_status: 'success',
    });
    expect(answer.body.sn).to.be.a('string').that.is.not.equal('');
    expect((await buy(asked)).body).to.deep.equal(answer.body);
  });

  it('an immediate refusal: 01 with the reason, a refund, and the same on repeats', async () => {
    const asked = purchase('081234561232');
    const before = (await buyer.post('/api/buyer/balance')).body.data.balance;
    const answer = await buy(asked);
    expectReseller(answer, createResellerRequest, { status: '01', sn: null, transaction_status: 'failed' });
    expect((await buy(asked)).body).to.deep.equal(answer.body);
    expect((await buyer.post('/api/buyer/balance')).body.data.balance).to.equal(before);
  });

  it('a slow provider: 00 without sn after the wait, then 05, then 00 with sn', async () => {
    // The simulator first responds with "pending" to numbers that end in 1233. Its latency exceeds
    // the synchronous wait.
    await stack.simulator.control({ latency_ms: 7_000 });
    const asked = purchase('081234561233');
    const startedAt = Date.now();
    const answer = await buy(asked);
    expect(Date.now() - startedAt).to.be.within(4_900, 7_000);
    const pending = { ref_id: asked.ref_id, sn: null, transaction_status: 'pending' };
    expectReseller(answer, createResellerRequest, { status: '00', ...pending });
    const repeatedAt = Date.now();
    expectReseller(await buy(asked), createResellerRequest, { status: '05', ...pending });
    expect(Date.now() - repeatedAt, 'ms until the answer to a repeat').to.be.below(2_000);
    await stack.simulator.control({ latency_ms: 0 });
    await eventually(
      'the sn is available',
      async () => {
        const { body } = await buy(asked);
        return body.status === '00' && body.sn !== null && body.transaction_status === 'success';
      },
      40_000,
    );
  });

  it('60 concurrent waiting calls each get their own sn', async () => {
    // Use a wait that is long enough even on a busy machine.
    const patient = apiClient((await stack.startWeb({ RESELLER_SYNC_WAIT_MS: '25000' })).url, signing.key);
    const asked = Array.from({ length: 60 }, () => purchase('081234561230'));
    const answers = await Promise.all(asked.map((each) => patient.get(requestPath(signing, each))));
    answers.forEach((answer, index) => {
      expectReseller(answer, createResellerRequest, { status: '00', ref_id: asked[index]?.ref_id ?? '' });
    });
    expect(new Set(answers.map((each) => each.body.sn as string)).size).to.equal(60);
    await expectLedgerToBalance(stack);
  });
});
