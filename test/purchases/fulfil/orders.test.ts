import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { createAccount } from '../../../src/accounts/create-account.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { getAdapter, buildConnection } from '../../../src/providers/get-adapter.js';
import { CaseModel } from '../../../src/purchases/case.model.js';
import { claimOrder } from '../../../src/purchases/fulfil/order-transitions.js';
import { applyOutcome } from '../../../src/purchases/fulfil/apply-outcome.js';
import { concludeSuccess } from '../../../src/purchases/fulfil/conclude-purchase.js';
import { buildOrder, buildProviderOrder } from '../../../src/purchases/fulfil/orders.js';
import { postpone } from '../../../src/purchases/fulfil/schedule-purchase.js';
import { askProviderJob, type PurchaseData } from '../../../src/purchases/fulfil/fulfilment-jobs.js';
import { openQueue } from '../../../src/jobs/queues.js';
import { OrderModel, type Order } from '../../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { StalePurchaseError } from '../../../src/purchases/states.js';
import { LateError } from '../../../src/providers/http.js';
import { setClock } from '../../../src/shared/clock.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { newId } from '../../../src/shared/ids.js';
import { openShop, type Shop } from '../../jobs/sold-purchases.js';
import { sendJson, startPlayServer, type PlayedCall, type PlayServer } from '../../providers/play-server.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { fulfilById } from './fulfil-by-id.js';

const success = { code: '00', message: 'Success', serialNumber: 'SN-1' };

/**
 * The price, seller and status checks of an accepted purchase do not change when settings change
 * later.
 */
describe('orders of a purchase', () => {
  useDatabase();
  const servers: PlayServer[] = [];
  afterEach(() => setClock(null));
  after(() => Promise.all(servers.map((each) => each.stop())));

  /** Starts a provider that uses the reseller protocol. */
  async function provider(status: 'success' | 'pending'): Promise<PlayServer> {
    const answer = (call: PlayedCall, response: ServerResponse) =>
      sendJson(response, 200, {
        status: status === 'success' ? '00' : '05',
        ref_id: call.url.searchParams.get('ref_id'),
        transaction_status: status,
        sn: status === 'success' ? 'SN-1' : null,
        message: status,
      });
    const server = await startPlayServer(answer);
    servers.push(server);
    return server;
  }

  async function addSeller(shop: Shop, baseUrl: string, price: number): Promise<string> {
    const { account } = await createAccount({
      username: `s${newId()}`,
      role: 'seller',
      provider: { kind: 'h2h', baseUrl, username: 'us', secret: 'secret' },
    });
    await writeAndInvalidate([OfferModel], null, (offers) =>
      offers.create({
        _id: `${shop.productCode}:${account._id}`,
        productCode: shop.productCode,
        sellerId: account._id,
        price,
        status: 'active',
      }),
    );
    return account._id;
  }

  async function setProvider(sellerId: string, change: object): Promise<void> {
    const fields = Object.entries(change).map(([name, value]) => [`provider.${name}`, value] as const);
    await writeAndInvalidate([AccountModel], null, (accounts) =>
      accounts.updateOne({ _id: sellerId }, { $set: Object.fromEntries(fields) }),
    );
  }

  const ordersOf = (purchaseId: string) =>
    OrderModel.find({ transactionId: purchaseId }).sort({ n: 1 }).lean<Order[]>();
  const casesOf = (transactionId: string) => CaseModel.find({ transactionId }).lean();
  const read = (id: string) => PurchaseModel.findById(id).orFail().lean<Purchase>();

  function orderAt(purchase: Purchase, n: number, sellerId: string, baseUrl: string): Order {
    return buildOrder({
      accountId: purchase.accountId,
      transactionId: purchase._id,
      n,
      sellerId,
      offerPrice: purchase.price,
      commissionRate: 0.02,
      provider: { kind: 'h2h', baseUrl, username: 'us' },
    });
  }

  for (const change of [{ price: 5_000 }, { status: 'inactive' }]) {
    it(`go to the accepted offer at its price although the offer now has ${JSON.stringify(change)}`, async () => {
      const server = await provider('success');
      const shop = await openShop(server.url);
      const { _id: id } = await shop.buy();
      await writeAndInvalidate([OfferModel], null, (offers) =>
        offers.updateOne({ productCode: shop.productCode }, { $set: change }),
      );
      await addSeller(shop, server.url, 900);
      await fulfilById(id);
      expect(await read(id)).to.include({ status: 'SUCCESS', sellerId: shop.seller._id, price: 1_000 });
      expect(await ordersOf(id)).to.have.length(1);
      expect((await ordersOf(id))[0]).to.include({ offerPrice: 1_000, sellerId: shop.seller._id });
    });
  }

  it('are checked at the address and under the username they were sent with', async () => {
    const [before, after] = [await provider('pending'), await provider('success')];
    const shop = await openShop(before.url);
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    await setProvider(shop.seller._id, { baseUrl: after.url, username: 'another' });
    const startMs = Date.now();
    setClock(() => startMs + 60_000);
    await fulfilById(id);
    expect(after.calls, 'status checks at the new address, which would buy again').to.have.length(0);
    expect(before.calls).to.have.length(2);
    expect(before.calls[1]?.url.searchParams.get('username')).to.equal('us');
  });

  it("leave no trace if the provider's settings are unusable; another seller serves", async () => {
    const server = await provider('success');
    const shop = await openShop(server.url);
    const other = await addSeller(shop, server.url, 1_000);
    const { _id: id } = await shop.buy();
    const accepted = await read(id);
    const broken = accepted.offerSellerId;
    await setProvider(broken, { secretSealed: 'not what this key has sealed' });
    await fulfilById(id);
    const orders = await ordersOf(id);
    expect(orders.map((each) => each.sellerId)).to.deep.equal(broken === other ? [shop.seller._id] : [other]);
    expect(await read(id)).to.include({ status: 'SUCCESS' });
  });

  it('are not sent once their lease may have expired', async () => {
    const server = await provider('success');
    const shop = await openShop(server.url);
    const accepted = await shop.buy();
    const claimed = await claimOrder(accepted, orderAt(accepted, 1, shop.seller._id, server.url));
    const send = (sendBefore: Date) =>
      getAdapter('h2h').buy(
        buildConnection(shop.seller, claimed.order),
        buildProviderOrder(claimed.purchase, claimed.order, sendBefore),
      );
    setClock(() => claimed.sendBefore.getTime());
    expect(await send(claimed.sendBefore).catch((error: unknown) => error)).to.be.instanceOf(LateError);
    expect(server.calls).to.have.length(0);
    setClock(() => claimed.sendBefore.getTime() - 1);
    expect(await send(claimed.sendBefore)).to.include({ outcome: 'success' });
    expect(server.calls).to.have.length(1);
  });

  it('are checked at the time that the last sender set, not that of a stale view', async () => {
    const server = await provider('success');
    const shop = await openShop(server.url);
    const accepted = await read((await shop.buy())._id);
    const claimed = await claimOrder(accepted, orderAt(accepted, 1, shop.seller._id, server.url));
    await postpone(accepted, 3_600_000);
    expect((await read(accepted._id)).nextActionAt).to.deep.equal(claimed.purchase.nextActionAt);
    await postpone(claimed.purchase, 3_600_000);
    expect((await read(accepted._id)).nextActionAt?.getTime()).to.be.greaterThan(Date.now() + 3_000_000);
    const looksInS = async () => {
      const jobs = await openQueue(askProviderJob.queue).getJobs(['delayed']);
      const own = jobs.filter(({ data }) => (data as PurchaseData).purchaseId === accepted._id);
      return own.map(({ delay }) => Math.round(delay / 1_000));
    };
    expect(await looksInS()).to.deep.equal([3_600]);
    await Promise.all([postpone(accepted, 7_200_000), postpone(await read((await shop.buy())._id), 1_000)]);
    expect(await looksInS(), 'delay of the status check').to.deep.equal([3_600]);
  });

  describe('a second execution', () => {
    /**
     * Creates a purchase with two orders. Order 1 is closed as not executed, and order 2, at
     * another seller, is in flight.
     */
    async function startSecondOrder() {
      const server = await provider('success');
      const shop = await openShop(server.url);
      const other = await addSeller(shop, server.url, 1_000);
      const accepted = await shop.buy();
      const first = await claimOrder(accepted, orderAt(accepted, 1, shop.seller._id, server.url));
      await OrderModel.updateOne(
        { _id: first.order._id },
        { status: 'REJECTED', open: false, code: 'not-executed' },
      );
      const second = await claimOrder(first.purchase, orderAt(accepted, 2, other, server.url));
      return { first, second, id: accepted._id };
    }

    it('opens a case when another seller has already succeeded', async () => {
      const { first, second, id } = await startSecondOrder();
      await concludeSuccess(second.purchase, second.order, success);
      const late = await concludeSuccess(first.purchase, first.order, success).catch(
        (error: unknown) => error,
      );
      expect(late).to.be.instanceOf(StalePurchaseError);
      expect(await casesOf(id)).to.have.length(1);
      expect(await read(id)).to.include({ status: 'SUCCESS', sellerId: second.order.sellerId });
    });

    it('opens a case when the late response is only pending', async () => {
      const { first, second, id } = await startSecondOrder();
      await concludeSuccess(second.purchase, second.order, success);
      const pending = { outcome: 'pending', code: '05', message: 'Pending', serialNumber: null } as const;
      await applyOutcome(first.purchase, first.order, pending);
      expect(await casesOf(id)).to.have.length(1);
    });

    it('opens no case for a repeated response to the same order', async () => {
      const { second, id } = await startSecondOrder();
      await concludeSuccess(second.purchase, second.order, success);
      await concludeSuccess(second.purchase, second.order, success).catch(() => undefined);
      expect(await casesOf(id)).to.have.length(0);
    });
  });

  it('a bought order of an open purchase opens a review', async () => {
    const server = await provider('success');
    const shop = await openShop(server.url);
    const accepted = await shop.buy();
    const claimed = await claimOrder(accepted, orderAt(accepted, 1, shop.seller._id, server.url));
    await OrderModel.updateOne({ _id: claimed.order._id }, { status: 'OK', open: false });
    await fulfilById(accepted._id);
    expect((await read(accepted._id)).reviewSince).to.be.instanceOf(Date);
    expect(server.calls).to.have.length(0);
  });
});
