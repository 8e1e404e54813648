/** Orders and status checks that did not leave in their time, as nobody knew the time: what follows, and what does not. */
import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { ComeLaterError } from '../../src/jobs/put-back.js';
import { fulfilPurchase } from '../../src/purchases/fulfil/fulfil-purchase.js';
import { fulfilPurchaseJob } from '../../src/purchases/fulfil/fulfil-purchase.job.js';
import { OrderModel, type Order } from '../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../src/purchases/purchase.model.js';
import { keepFleetClock, type FleetClock } from '../../src/redis/fleet-clock.js';
import { openShop, startAllWorkers, type Shop } from '../jobs/sold-purchases.js';
import { addJob } from '../../src/jobs/add-job.js';
import { setClock } from '../../src/shared/clock.js';
import { eventually } from '../support/eventually.js';
import { sendJson, startPlayServer, type PlayedCall, type PlayServer } from '../providers/play-server.js';
import { useDatabase } from '../webhooks/support/database.js';

type Answers = 'success' | 'refused' | 'pending';

describe('what did not leave in its time', function () {
  this.timeout(60_000);
  useDatabase();
  let provider: PlayServer;
  let shop: Shop;
  let clock: FleetClock;
  let answers: Answers;

  before(async () => {
    provider = await startPlayServer(answer);
    shop = await openShop(provider.url);
  });
  after(() => provider.stop());
  beforeEach(async () => {
    provider.calls.length = 0;
    answers = 'success';
    await timeIsTold();
  });
  afterEach(() => clock.stop());

  function answer({ url }: PlayedCall, response: ServerResponse): void {
    const ref_id = url.searchParams.get('ref_id');
    const told = {
      success: { status: '00', transaction_status: 'success', message: 'Success', sn: `SN${ref_id ?? ''}` },
      pending: { status: '05', transaction_status: 'pending', message: 'Wait', sn: null },
      refused: null,
    }[answers];
    sendJson(response, 200, told ? { ref_id, ...told } : { status: '02', message: 'Not sold here' });
  }

  async function timeIsTold(): Promise<void> {
    clock = keepFleetClock();
    await clock.measured;
  }

  /** As where Redis does not answer: nobody knows the time. */
  const nobodyKnowsTheTime = () => clock.stop();
  const came = (id: string, how = {}) => fulfilPurchase(id, how).catch((error: unknown) => error);
  const ordersOf = (purchaseId: string) =>
    OrderModel.find({ transactionId: purchaseId }).sort({ n: 1 }).lean<Order[]>();
  const codesOf = async (id: string) => (await ordersOf(id)).map(({ code }) => code);
  const read = (id: string) => PurchaseModel.findById(id).orFail().lean<Purchase>();

  it('an order is sent anew to the same seller, and leaves no other trace while nobody knows the time', async () => {
    const { _id: id } = await shop.buy();
    await nobodyKnowsTheTime();
    for (let round = 0; round < 3; round += 1) {
      expect(await came(id)).to.be.instanceOf(ComeLaterError);
    }
    expect(await codesOf(id)).to.deep.equal(['too-late']);
    expect(provider.calls).to.have.length(0);
    await timeIsTold();
    await fulfilPurchase(id);
    expect(await codesOf(id)).to.deep.equal(['too-late', '00']);
    expect(await read(id)).to.include({ status: 'SUCCESS', sellerId: shop.seller._id });
  });

  it('what the seller then says counts: a refusal gives the money back at once, with its code', async () => {
    const { _id: id } = await shop.buy();
    await nobodyKnowsTheTime();
    await came(id);
    await timeIsTold();
    answers = 'refused';
    await fulfilPurchase(id);
    expect(await read(id)).to.include({ status: 'FAILED', failureCode: '02' });
    expect(await codesOf(id)).to.have.length(2);
  });

  it('its job comes again in a second, and others of its queue are done meanwhile', async () => {
    const { _id: id } = await shop.buy();
    await nobodyKnowsTheTime();
    const workers = startAllWorkers();
    try {
      await addJob(fulfilPurchaseJob, { purchaseId: id, accountId: shop.buyer._id });
      await eventually('the late order', async () => (await codesOf(id)).length === 1);
      await timeIsTold();
      await eventually('its sale', async () => (await read(id)).status === 'SUCCESS');
      expect(await codesOf(id)).to.deep.equal(['too-late', '00']);
    } finally {
      await workers.close();
    }
  });

  it('what is late again and again is given back after the longest wait', async () => {
    const { _id: id, accountId } = await shop.buy();
    const first = await lateOrder(id);
    const more = Array.from({ length: 4 }, (_, n) => ({ ...first, _id: `${id}-${n + 2}`, n: n + 2 }));
    await PurchaseModel.updateOne(
      { _id: id, accountId },
      { $set: { createdAt: new Date(Date.now() - 3_600_000) } },
    );
    await OrderModel.insertMany(more.slice(0, 3));
    await nobodyKnowsTheTime();
    expect(await came(id), 'four may be an accident').to.be.instanceOf(ComeLaterError);
    await OrderModel.insertMany(more.slice(3));
    await came(id);
    expect(await read(id)).to.include({ status: 'FAILED' });
  });

  async function lateOrder(id: string): Promise<Order> {
    await nobodyKnowsTheTime();
    await came(id);
    const [order] = await ordersOf(id);
    if (order?.code !== 'too-late') {
      throw new Error(`It is ${JSON.stringify(order)}`);
    }
    return order;
  }

  for (const askNow of [true, false]) {
    it(`a status check ${askNow ? 'that the provider called for' : 'of the schedule'} counts as none, and comes again`, async () => {
      answers = 'pending';
      const { _id: id } = await shop.buy();
      await fulfilPurchase(id);
      const [before] = await ordersOf(id);
      const calls = provider.calls.length;
      await nobodyKnowsTheTime();
      setClock(() => Date.now() + 60_000);
      answers = 'success';
      await fulfilPurchase(id, { askNow });
      const [after] = await ordersOf(id);
      expect(provider.calls).to.have.length(calls);
      expect(after).to.deep.include({ checks: before?.checks, lastCheckAt: before?.lastCheckAt, open: true });
      const { nextActionAt } = await read(id);
      if (!askNow) {
        const inMs = (nextActionAt?.getTime() ?? 0) - Date.now() - 60_000;
        expect(inMs, 'the sweep finds it soon').to.be.within(0, 60_000);
      }
      setClock(null);
      await timeIsTold();
      setClock(() => Date.now() + 120_000);
      await fulfilPurchase(id, { askNow });
      expect(await read(id)).to.include({ status: 'SUCCESS' });
    });
  }
});
