import { Queue } from 'bullmq';
import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer, type ApiClient } from '../../support/api-client.js';
import { deposit } from '../../support/deposit.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance } from '../../support/ledger.js';
import { startPrivateMongo, type Outage } from '../../support/outage.js';
import { startStack, type Stack } from '../../support/stack.js';
import { expectFailure } from '../support/expect-answer.js';
import { hmacSign, pathOf, requestPath } from '../support/reseller.js';

const responseTimeoutMs = 3_000;

describe('MongoDB outage', function () {
  this.timeout(120_000);
  let stack: Stack;
  let mongo: Outage;
  let buyer: ApiClient;
  let signing: { username: string; key: string };

  before(async () => {
    mongo = await startPrivateMongo();
    stack = await startStack({
      workers: ['all'],
      env: { MONGODB_URI: mongo.url, RESELLER_SYNC_WAIT_MS: '0' },
    });
    signing = { username: 'buyer', key: (await stack.seed())['buyer']?.api_key ?? '' };
    buyer = apiClient(stack.baseUrl, signing.key);
    await deposit(buyer, 10_000_000);
  });
  after(async () => {
    await mongo.restore();
    await stack.stop();
    await mongo.stop();
  });

  const purchase = () => ({ code: 'S10', customer: '081234561230', ref_id: uniqueRef() });
  type Purchase = ReturnType<typeof purchase>;
  const buy = ({ code, customer, ref_id }: Purchase) =>
    buyer.post('/api/buyer/transaction', { code, customer_number: customer, ref_id });
  const buyAsReseller = (asked: Purchase) => buyer.get(requestPath(signing, asked));

  async function waitUntilFulfilled(asked: Purchase): Promise<void> {
    await eventually(
      `${asked.ref_id} is fulfilled`,
      async () => {
        const answer = await buy(asked);
        if (answer.status === 200 && answer.body.data.status === 'success') {
          return true;
        }
        throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      },
      60_000,
    );
  }

  async function expectInTime(call: Promise<Answer>): Promise<Answer> {
    const startedAt = Date.now();
    const answer = await call;
    expect(Date.now() - startedAt, 'ms until the answer').to.be.below(responseTimeoutMs);
    return answer;
  }

  it('a worker whose first purchase fails during the outage recovers after it', async () => {
    const connection = { url: process.env['REDIS_URL'] ?? '' };
    const sellers = await stack.db.collection('accounts').find({ role: 'seller' }).toArray();
    const queues = sellers.map(({ _id }) => {
      return new Queue(`fulfilment-${String(_id)}`, { connection, prefix: stack.env['QUEUE_PREFIX'] ?? '' });
    });
    const failedJobs = async () =>
      (await Promise.all(queues.map((queue) => queue.getFailedCount()))).reduce((a, b) => a + b);
    const workers = () => Promise.all(queues.map((queue) => queue.getWorkersCount()));
    try {
      // Wait for the workers of all provider queues. A worker reads the list of these queues from
      // MongoDB. Without the list it would take no purchase during the outage.
      await eventually('each queue has a worker', async () => (await workers()).every((count) => count > 0));
      await Promise.all(queues.map((queue) => queue.pause()));
      const asked = purchase();
      expect((await buy(asked)).status).to.equal(200);
      await mongo.cut();
      await Promise.all(queues.map((queue) => queue.resume()));
      await eventually('the job fails', async () => (await failedJobs()) > 0, 30_000);
      await mongo.restore();
      await waitUntilFulfilled(asked);
    } finally {
      await Promise.all(queues.map((queue) => queue.close()));
    }
  });

  const outages: [name: string, begin: () => Promise<void> | void][] = [
    ['hangs', () => mongo.hang()],
    ['is killed', () => mongo.cut()],
  ];
  for (const [name, begin] of outages) {
    it(`${name}: returns 503/03 in time, recovers, and loses or repeats no purchase`, async () => {
      const [first, second] = [purchase(), purchase()];
      const before = [first, second];
      const [bought, boughtAsReseller] = await Promise.all([buy(first), buyAsReseller(second)]);
      expect(bought.status).to.equal(200);
      expect(boughtAsReseller.body.status).to.equal('00');
      // The accounts are cached by now, so authentication succeeds and the purchases themselves
      // meet the outage.
      await begin();
      const during = [purchase(), purchase(), purchase()];
      const resold = purchase();
      const [reseller, ...answers] = await Promise.all([
        expectInTime(buyAsReseller(resold)),
        ...during.map((asked) => expectInTime(buy(asked))),
        expectInTime(buyer.post('/api/buyer/balance')),
      ]);
      for (const answer of answers) {
        expectFailure(answer, { status: 503, code: '03' });
      }
      expect(reseller.status).to.equal(200);
      expect(reseller.body.status, 'a failure code would make it buy elsewhere').to.equal('05');
      // The cached accounts have expired, so authentication needs the database.
      expectFailure(await expectInTime(buyer.get('/v1/products')), { status: 503, code: '03' });
      const depo = pathOf('balance', { username: 'buyer', sign: hmacSign(signing, 'depo') });
      const balance = await expectInTime(buyer.get(depo));
      expect([balance.status, balance.body.status]).to.deep.equal([200, '03']);
      const ready = await expectInTime(buyer.get('/readyz'));
      expect(ready.body).to.include({ mongodb: false });

      await mongo.restore();
      for (const asked of [...before, ...during, resold]) {
        await waitUntilFulfilled(asked);
      }
      await eventually('the web process is ready', async () => (await buyer.get('/readyz')).status === 200);
      const refs = [...before, ...during, resold].map((each) => each.ref_id);
      const stored = await stack.db
        .collection('transactions')
        .find({ refId: { $in: refs } })
        .toArray();
      expect(stored).to.have.length(refs.length);
      const executed = (await stack.simulator.log()).map((row) => row.ref_id.replace(/-\d+$/, ''));
      for (const { _id } of stored) {
        expect(executed.filter((id) => id === String(_id))).to.have.length(1);
      }
      await expectLedgerToBalance(stack);
    });
  }
});
