/**
 * Refusals of POST /api/sandbox/transactions/<ref>/end. A refused call contacts no provider and
 * writes nothing.
 */
import { expect } from 'chai';
import { endTransaction } from '../../../src/api/sandbox/scenarios.js';
import type { ProviderSettings } from '../../../src/accounts/account.model.js';
import { getQuickCollection } from '../../../src/database/mongo.js';
import { buildOrder } from '../../../src/purchases/fulfil/orders.js';
import { OrderModel, orders, type Order } from '../../../src/purchases/order.model.js';
import { PurchaseModel, purchases, type Purchase } from '../../../src/purchases/purchase.model.js';
import { expectFailure, expectSuccess } from '../../api/support/expect-answer.js';
import { useApi } from '../../api/support/api.js';
import { newProduct } from '../../api/support/catalogue.js';
import { uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { endLag, lagNextCommit, skipWithoutFaults } from '../../support/majority-lag.js';
import { startReceiver, type TestReceiver } from '../../webhooks/support/receiver.js';

describe('POST /api/sandbox/transactions/<ref>/end: refusals', () => {
  const api = useApi();
  let provider: TestReceiver;
  before(async () => {
    provider = await startReceiver();
  });
  after(() => provider.close());

  /** Makes a purchase. No worker runs here, so it stays accepted. */
  async function createPurchase() {
    const { _id: code, sellerId } = await newProduct(api);
    const { key, account } = await api.newBuyer(100_000);
    const body = { code, customer_number: '081234561238', ref_id: uniqueRef() };
    const { body: answer } = await api.call({ path: '/api/buyer/transaction', key, body });
    const id = String(answer.data.transaction_id);
    const sent = async (kind: ProviderSettings['kind'], over: Partial<Order> = {}, at = provider.url) => {
      const to = { kind, baseUrl: at, username: 'simulated' };
      const order = buildOrder({
        transactionId: id,
        accountId: account._id,
        n: 1,
        sellerId,
        offerPrice: 10_500,
        commissionRate: 0.02,
        provider: to,
      });
      await OrderModel.create({ ...order, status: 'UNKNOWN', sentAt: new Date(), ...over });
    };
    const become = (set: Partial<Purchase>) =>
      PurchaseModel.updateOne({ _id: id, accountId: account._id }, { $set: set });
    const stored = () => PurchaseModel.findById(id).lean<Purchase>();
    const end = (result: unknown, ref = body.ref_id) =>
      api.call({
        method: 'POST',
        path: `/api/sandbox/transactions/${ref}/end`,
        key,
        body: { result },
      });
    return { id, sent, become, stored, end };
  }
  const notPossible = (message: RegExp) =>
    ({ status: 409, code: '01', reason: 'end_not_possible', message }) as const;

  it('refuses a transaction that is not with a provider yet', async () => {
    const { end, stored } = await createPurchase();
    const before = await stored();
    expectFailure(await end('success'), notPossible(/not with a provider yet/));
    expect(await stored()).to.deep.equal(before);
  });

  it('refuses a transaction at a real provider, which is not called', async () => {
    const { end, sent, become, stored } = await createPurchase();
    await sent('h2h');
    await become({ status: 'PROCESSING' });
    for (const result of ['success', 'failed']) {
      expectFailure(await end(result), notPossible(/not the simulator/));
    }
    expect(provider.hits()).to.equal(0);
    expect(await stored()).to.include({ status: 'PROCESSING' });
  });

  it('refuses a transaction under review or with a masked customer number', async () => {
    const { end, sent, become } = await createPurchase();
    await sent('simulator');
    await become({ status: 'PROCESSING', reviewSince: new Date() });
    expectFailure(await end('success'), notPossible(/operator/));
    const sold = await createPurchase();
    await sold.sent('simulator', { status: 'OK', open: false });
    await sold.become({ status: 'SUCCESS', proofs: { customerNumber: 'masked' } });
    expectFailure(await sold.end('reversed'), notPossible(/operator/));
    expect(provider.hits()).to.equal(0);
  });

  it('returns the existing end while the majority lags behind it', async function () {
    await skipWithoutFaults(this);
    const { id, end, sent, become } = await createPurchase();
    await sent('simulator');
    await lagNextCommit(purchases.collectionName, 1_500);
    const ended = become({ status: 'SUCCESS' }).exec();
    await eventually('the end is on the primary', () => PurchaseModel.exists({ _id: id, status: 'SUCCESS' }));
    await getQuickCollection(orders).updateOne(
      { transactionId: id },
      { $set: { status: 'OK', open: false } },
      { writeConcern: { w: 1 } },
    );
    const answer = await end('success');
    await endLag();
    await ended;
    expectSuccess(answer, endTransaction);
    expect(answer.body.code).to.equal('00');
  });

  it('refuses another end of a final transaction and accepts a repeat of its own end', async () => {
    for (const [status, its, others] of [
      ['SUCCESS', 'success', ['failed']],
      ['FAILED', 'failed', ['success', 'reversed']],
      ['REFUNDED', 'reversed', ['success', 'failed']],
      ['PROCESSING', null, ['reversed']],
    ] as const) {
      const { end, sent, become } = await createPurchase();
      await sent('simulator', status === 'PROCESSING' ? {} : { open: false, status: 'OK' });
      await become({ status });
      for (const other of others) {
        expectFailure(await end(other), notPossible(/already final|Only a successful transaction/));
      }
      if (its !== null) {
        const same = await end(its);
        expectSuccess(same, endTransaction);
        expect(same.body.code).to.equal('00');
      }
    }
    expect(provider.hits()).to.equal(0);
  });

  it('returns 503 while the simulator is unreachable, and the call can be retried', async () => {
    const { end, sent, become, stored } = await createPurchase();
    await sent('simulator', {}, 'http://127.0.0.1:9');
    await become({ status: 'PROCESSING' });
    const answer = await end('success');
    expectFailure(answer, { status: 503, code: '03', reason: 'biller_unavailable' });
    expect(Number(answer.headers['retry-after'])).to.be.greaterThan(0);
    expect(await stored()).to.include({ status: 'PROCESSING' });
  });

  it('refuses an unknown result or an unknown transaction', async () => {
    const { end } = await createPurchase();
    for (const result of ['lost', '', null, undefined, 1]) {
      expectFailure(await end(result), { status: 400, code: '01', field: 'result' });
    }
    expectFailure(await end('success', 'no-such-transaction'), { status: 404, code: '02' });
  });
});
