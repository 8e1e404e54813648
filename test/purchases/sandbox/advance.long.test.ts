/** POST /api/sandbox/advance makes scheduled work due now, only for the calling account. */
import { expect } from 'chai';
import { advanceSandbox } from '../../../src/api/sandbox/scenarios.js';
import { QuoteModel, type Quote } from '../../../src/bills/quote.model.js';
import { openQueue } from '../../../src/jobs/queues.js';
import { pollingQueue } from '../../../src/purchases/fulfil/fulfilment-jobs.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { newId } from '../../../src/shared/ids.js';
import { useApi, type ApiAccount } from '../../api/support/api.js';
import { newProduct } from '../../api/support/catalogue.js';
import { expectSuccess } from '../../api/support/expect-answer.js';
import { apiClient, uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { someQuote } from '../../support/some-quote.js';
import { startStack, type Stack } from '../../support/stack.js';
import {
  sendResponse,
  acceptRequest,
  startReceiver,
  type TestReceiver,
} from '../../webhooks/support/receiver.js';

const path = '/api/sandbox/advance';

describe('advancing a sandbox account, with workers', () => {
  let stack: Stack;
  let receiver: TestReceiver;
  before(async () => {
    stack = await startStack({ workers: ['all'] });
    receiver = await startReceiver((_request, response) => sendResponse(response, 500));
  });
  after(async () => {
    await receiver.close();
    await stack.stop();
  });

  it('sends a webhook that is due in an hour, but not that of another account', async () => {
    const accounts = await stack.seed();
    const rows = stack.db.collection('deliveries');
    const inAnHour = new Date(Date.now() + 3_600_000);
    /**
     * Makes a purchase whose webhook was refused once by the receiver.
     * @returns the delivery row and the client.
     */
    async function createRefusedDelivery(name: 'buyer' | 'buyer2') {
      const client = apiClient(stack.baseUrl, accounts[name]?.api_key ?? '');
      await client.post('/api/buyer/api/config', {
        webhook_url: `${receiver.url}/${name}`,
        rate_limit: 1_000,
      });
      await client.post('/api/buyer/deposit', { amount: 100_000, ref_id: uniqueRef() });
      const refId = uniqueRef(name);
      await client.post('/api/buyer/transaction', {
        code: 'S10',
        customer_number: '081234561230',
        ref_id: refId,
      });
      const event = 'transaction.success';
      const row = await eventually('the first attempt is refused', () =>
        rows.findOne({ refId, event, leaseToken: null, 'attempts.0': { $exists: true } }),
      );
      const { receiverId, accountId } = row;
      // Create the state after many failures: the next attempt is hours away, and the circuit
      // breaker is open.
      await rows.updateMany({ accountId, state: 'due' }, { $set: { nextAttemptAt: inAnHour } });
      await stack.db
        .collection<{ _id: string }>('webhookReceivers')
        .updateOne({ _id: receiverId as string }, { $set: { openUntil: inAnHour } });
      return { client, id: row._id, mine: { refId, event } };
    }
    const [one, other] = [await createRefusedDelivery('buyer'), await createRefusedDelivery('buyer2')];
    receiver.behave(acceptRequest);
    const { status, body } = await one.client.post(path);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data.deliveries).to.be.greaterThan(0);
    await eventually('its delivery', async () => (await rows.findOne(one.mine))?.['state'] === 'delivered');
    const waiting = await rows.findOne(other.mine);
    expect([waiting?.['state'], waiting?.['nextAttemptAt']]).to.deep.equal(['due', inAnHour]);
    expect((await one.client.post(path)).body.data.deliveries).to.equal(0);
  });
});

describe('advancing a sandbox account', () => {
  const api = useApi();
  const call = ({ key }: ApiAccount) => api.call({ method: 'POST', path, key });

  it('checks its open transactions, not final, reviewed or foreign ones', async () => {
    const { _id: code } = await newProduct(api);
    /** Makes a purchase. No worker runs here, so it stays accepted. */
    const bought = async ({ key }: ApiAccount) => {
      const body = { code, customer_number: '081234561238', ref_id: uniqueRef() };
      return String((await api.call({ path: '/api/buyer/transaction', key, body })).body.data.transaction_id);
    };
    const [mine, others] = [await api.newBuyer(100_000), await api.newBuyer(100_000)];
    const [open, final, reviewed] = [await bought(mine), await bought(mine), await bought(mine)];
    const foreign = await bought(others);
    await PurchaseModel.updateOne({ _id: final }, { $set: { status: 'SUCCESS' } });
    await PurchaseModel.updateOne({ _id: reviewed }, { $set: { reviewSince: new Date() } });
    const answered = await call(mine);
    expectSuccess(answered, advanceSandbox);
    expect(answered.body.data).to.deep.equal({ deliveries: 0, transactions: 1, bills: 0 });
    const jobs = await openQueue(pollingQueue).getJobs(['waiting', 'prioritized', 'delayed', 'active']);
    const asked = jobs.map(({ data }) => data as { purchaseId: string; askNow: boolean });
    const ids = asked.filter(({ askNow }) => askNow).map(({ purchaseId }) => purchaseId);
    expect([open, final, reviewed, foreign].map((id) => ids.includes(id))).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
  });

  it('expires its open quotes, not paid or foreign ones', async () => {
    const [mine, others] = [await api.newBuyer(), await api.newBuyer()];
    const later = new Date(Date.now() + 3_600_000);
    async function quoteOf({ account }: ApiAccount, over: Partial<Quote> = {}): Promise<string> {
      const quote = someQuote({ accountId: account._id, expiresAt: later, ...over });
      await QuoteModel.create([quote]);
      return quote._id;
    }
    const open = await quoteOf(mine);
    const stay = [await quoteOf(mine, { usedBy: newId() }), await quoteOf(others)];
    expect((await call(mine)).body.data).to.deep.equal({ deliveries: 0, transactions: 0, bills: 1 });
    const endOf = async (id: string) => (await QuoteModel.findById(id).lean())?.expiresAt.getTime();
    expect(await endOf(open)).to.be.at.most(Date.now());
    expect(await Promise.all(stay.map(endOf))).to.deep.equal([later.getTime(), later.getTime()]);
    expect((await call(mine)).body.data.bills).to.equal(0);
  });
});
