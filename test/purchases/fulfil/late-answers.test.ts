/** A result that arrives late or cannot be stored must not lead to a second purchase. */
import { expect } from 'chai';
import mongoose from 'mongoose';
import type { ServerResponse } from 'node:http';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { bySystem } from '../../../src/audit/record-audit.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { createPurchase } from '../../../src/purchases/accept/accept-purchase.js';
import { getOrderKey, OrderModel, type Order } from '../../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { resolveReview } from '../../../src/purchases/review/resolve-review.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { keepFleetClock, type FleetClock } from '../../../src/redis/fleet-clock.js';
import { newId } from '../../../src/shared/ids.js';
import { openShop, startAllWorkers, type Shop } from '../../jobs/sold-purchases.js';
import { sendJson, startPlayServer, type PlayServer } from '../../providers/play-server.js';
import { eventually } from '../../support/eventually.js';
import { withFault, type Fault } from '../../support/mongo-faults.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { fulfilById } from './fulfil-by-id.js';

type Answer = 'success' | 'pending' | 'not-found' | 'never-ask' | 'failed' | 'wrong-number';

describe('late responses about an order', () => {
  useDatabase();
  let first: PlayServer;
  let other: PlayServer;
  let clock: FleetClock;
  /** The provider's next response. Null holds the request until the test responds to it. */
  let nextAnswer: Answer | null;
  let heldRequests: ((how: Answer) => void)[];
  const answer = (how: Answer) => heldRequests.shift()?.(how);

  before(async () => {
    clock = keepFleetClock();
    await clock.measured;
    first = await startPlayServer(({ method, url, raw }, response) => {
      const named =
        method === 'POST'
          ? (JSON.parse(raw) as { ref_id: string })
          : { ref_id: url.searchParams.get('ref_id') };
      const as = (how: Answer) => sendAnswer(response, named.ref_id ?? '', how);
      if (nextAnswer === null) {
        heldRequests.push(as);
      } else {
        as(nextAnswer);
      }
    });
    other = await startPlayServer(({ url }, response) =>
      sendAnswer(response, url.searchParams.get('ref_id') ?? '', 'success'),
    );
  });
  beforeEach(() => {
    nextAnswer = 'pending';
    heldRequests = [];
    first.calls.length = 0;
    other.calls.length = 0;
  });
  after(async () => {
    await clock.stop();
    await Promise.all([first.stop(), other.stop()]);
  });

  it('opens a review that was lost after "never ask again", without asking again', async () => {
    const shop = await openShop(first.url);
    await switchToDigiflazz(shop);
    const { _id: id } = await shop.buy();
    nextAnswer = null;
    const sending = fulfilById(id).catch(String);
    await eventually('the order arrives', () => heldRequests.length === 1);
    await withFault(buildForbiddenFault(), async () => {
      answer('never-ask');
      expect(await sending).to.match(/not allowed|forbidden|Error/i);
    });
    await change(id, { sentAt: anHourAgo(), leaseUntil: null });
    nextAnswer = 'success';
    await fulfilById(id, { askNow: true });
    expect(first.calls).to.have.length(1);
    const { status, reviewSince, reviewReason } = await read(id);
    expect({ status, isReviewed: reviewSince !== null }).to.deep.equal({
      status: 'PROCESSING',
      isReviewed: true,
    });
    expect(reviewReason).to.match(/never-ask/);
  });

  for (const late of ['pending', 'success', 'never-ask'] as const) {
    it(`"${late}" during the fifth "not found" prevents another sale`, async () => {
      const shop = await openShopWithSecondSeller();
      if (late === 'never-ask') {
        await switchToDigiflazz(shop);
      }
      const { _id: id } = await shop.buy();
      nextAnswer = null;
      const sending = fulfilById(id).catch(String);
      await eventually('the order arrives', () => heldRequests.length === 1);
      await change(id, { sentAt: anHourAgo(), leaseUntil: anHourAgo(), notFound: 4 });
      const asking = fulfilById(id, { askNow: true });
      await eventually('the status check arrives', () => heldRequests.length === 2);
      if (late === 'pending') {
        answer(late);
        await sending;
      } else {
        // During the fault, neither the success nor the review can be written.
        await withFault(buildForbiddenFault(), async () => {
          answer(late);
          await sending;
        });
      }
      answer('not-found');
      await asking;
      expect(other.calls).to.deep.equal([]);
      expect(await orderOf(id)).to.include({
        open: true,
        ...(late === 'never-ask' ? { neverAskAgain: true } : { acknowledged: true }),
      });
    });
  }

  for (const refusal of ['failed', 'wrong-number'] as const) {
    it(`"never ask again" before the response "${refusal}": a review, no refund, no other sale`, async () => {
      const shop = await openShopWithSecondSeller();
      await switchToDigiflazz(shop);
      const { _id: id } = await shop.buy();
      nextAnswer = null;
      const sending = fulfilById(id).catch(String);
      await eventually('the order arrives', () => heldRequests.length === 1);
      await change(id, { sentAt: anHourAgo(), leaseUntil: anHourAgo() });
      const asking = fulfilById(id, { askNow: true }).catch(String);
      await eventually('the status check arrives', () => heldRequests.length === 2);
      await withFault(buildForbiddenFault(), async () => {
        answer('never-ask');
        await sending;
      });
      answer(refusal);
      await asking;
      await fulfilById(id, { askNow: true });
      expect(other.calls).to.deep.equal([]);
      expect(await orderOf(id)).to.include({ open: true, neverAskAgain: true });
      const { status, reviewSince, reviewReason } = await read(id);
      expect({ status, isReviewed: reviewSince !== null }).to.deep.equal({
        status: 'PROCESSING',
        isReviewed: true,
      });
      expect(reviewReason).to.match(/must not be queried/);
    });
  }

  it('ignores "not found" until the longest latency of an unanswered check has passed', async () => {
    const shop = await openShopWithSecondSeller();
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    await change(id, { sentAt: anHourAgo(), lastCheckAt: anHourAgo() }, ['acknowledged']);
    nextAnswer = null;
    await fulfilById(id, { askNow: true });
    expect(heldRequests, 'a check that timed out').to.have.length(1);
    nextAnswer = 'not-found';
    await change(id, { notFound: 4, lastCheckAt: anHourAgo() });
    await fulfilById(id, { askNow: true });
    expect(await orderOf(id)).to.include({ open: true, notFound: 5 });
    // The same holds if the process that sent the check was killed and its lease was never
    // released.
    await change(id, {
      unansweredAt: null,
      leaseUntil: anHourAgo(),
      lastCheckAt: new Date(Date.now() - 2_000),
    });
    await fulfilById(id, { askNow: true });
    expect(await orderOf(id)).to.include({ open: true, notFound: 6 });
    expect(other.calls).to.deep.equal([]);
    await change(id, { unansweredAt: anHourAgo(), lastCheckAt: anHourAgo() });
    await fulfilById(id, { askNow: true });
    expect(await read(id)).to.include({ status: 'SUCCESS' });
    expect(other.calls).to.have.length(1);
  });

  it('an operator may decide at once on "not found" of an acknowledged order', async () => {
    const shop = await openShop(first.url);
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    await change(id, { sentAt: anHourAgo(), lastCheckAt: anHourAgo(), notFound: 4 });
    nextAnswer = 'not-found';
    await fulfilById(id, { askNow: true });
    await resolveReview(id, { outcome: 'failed' }, { ...bySystem, reason: 'looked up' });
    expect(await read(id)).to.include({ status: 'FAILED' });
  });

  it('a purchase whose debit is confirmed after its call ended gets its job at once', async () => {
    const shop = await openShop(other.url);
    const refId = newId();
    const { buyer, productCode } = shop;
    const wanted = { account: buyer, productCode, customerNumber: '081234567890', refId };
    const { created, purchase } = await withFault({ kind: 'silence', commands: ['commitTransaction'] }, () =>
      createPurchase({ ...wanted, surface: 'buyer' }),
    );
    expect(created).to.equal(true);
    // Postpone the next action, so that the sweep cannot be what fulfils the purchase.
    const anHourAhead = new Date(Date.now() + 3_600_000);
    await PurchaseModel.updateOne({ _id: purchase._id }, { $set: { nextActionAt: anHourAhead } });
    const workers = startAllWorkers();
    try {
      await eventually('the purchase is sold', async () => (await read(purchase._id)).status === 'SUCCESS');
    } finally {
      await workers.close();
    }
  });

  function switchToDigiflazz({ seller }: Shop): Promise<unknown> {
    return writeAndInvalidate([AccountModel], null, (rows) =>
      rows.updateOne({ _id: seller._id }, { $set: { 'provider.kind': 'digiflazz' } }),
    );
  }

  async function openShopWithSecondSeller(): Promise<Shop> {
    const shop = await openShop(first.url);
    const { seller } = await openShop(other.url);
    const { productCode } = shop;
    await writeAndInvalidate([OfferModel], null, (rows) =>
      rows.create({
        _id: `${productCode}:${seller._id}`,
        productCode,
        sellerId: seller._id,
        price: 1_000,
        status: 'active',
      }),
    );
    return shop;
  }

  function buildForbiddenFault(): Fault {
    const namespace = `${mongoose.connection.name}.transactions`;
    return { kind: 'forbidden', commands: ['update'], namespace, probability: 1 };
  }

  function read(id: string): Promise<Purchase> {
    return PurchaseModel.findById(id).orFail().lean<Purchase>();
  }

  function orderOf(id: string): Promise<Order> {
    return OrderModel.findOne({ transactionId: id, n: 1 }).orFail().lean<Order>();
  }

  async function change(id: string, set: Partial<Order>, unset: string[] = []): Promise<void> {
    const $unset = Object.fromEntries(unset.map((field) => [field, 1]));
    await OrderModel.updateOne(getOrderKey(await orderOf(id)), {
      $set: set,
      ...(unset.length > 0 && { $unset }),
    });
  }

  function anHourAgo(): Date {
    return new Date(Date.now() - 3_600_000);
  }
});

function sendAnswer(response: ServerResponse, ref_id: string, how: Answer): void {
  const refused: Partial<Record<Answer, string>> = { 'never-ask': '49', failed: '02', 'wrong-number': '54' };
  const rc = refused[how];
  if (rc !== undefined) {
    sendJson(response, 200, { data: { rc, ref_id, status: 'Gagal', message: how, sn: '' } });
    return;
  }
  if (how === 'not-found') {
    sendJson(response, 200, {
      status: '02',
      message: how,
      data: { rc: '44', ref_id, status: 'Gagal', message: how, sn: '' },
    });
    return;
  }
  const sn = how === 'success' ? `SN${ref_id}` : null;
  const status = how === 'success' ? '00' : '05';
  sendJson(response, 200, { ref_id, status, transaction_status: how, message: how, sn });
}
