/** Orders and status checks that miss their deadline because the fleet time is unknown. */
import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { AccountModel } from '../../../src/accounts/account.model.js';
import { DeferJobError } from '../../../src/jobs/define-job.js';
import { openQueue } from '../../../src/jobs/queues.js';
import { openCircuit } from '../../../src/providers/circuit.js';
import {
  askProviderJob,
  fulfilPurchaseJob,
  verifySaleJob,
} from '../../../src/purchases/fulfil/fulfilment-jobs.js';
import { checkOrder } from '../../../src/purchases/fulfil/check-order.js';
import { verifySale } from '../../../src/purchases/fulfil/reverse-sale.js';
import { getOrderKey, OrderModel, type Order } from '../../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { findOrderToBook, getPossibleDecisions } from '../../../src/purchases/review/review-decisions.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { redis } from '../../../src/redis/connection.js';
import { keepFleetClock, type FleetClock } from '../../../src/redis/fleet-clock.js';
import { openShop, startAllWorkers, type Shop } from '../../jobs/sold-purchases.js';
import { addJob } from '../../../src/jobs/add-job.js';
import { shiftRedisTime } from '../../support/shift-redis-time.js';
import { eventually } from '../../support/eventually.js';
import { sendJson, startPlayServer, type PlayedCall, type PlayServer } from '../../providers/play-server.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { fulfilById } from './fulfil-by-id.js';

type ProviderResult = 'success' | 'refused' | 'pending';

describe('late orders and status checks', () => {
  useDatabase();
  let provider: PlayServer;
  let shop: Shop;
  let clock: FleetClock;
  let answers: ProviderResult;

  before(async () => {
    provider = await startPlayServer(answer);
    shop = await openShop(provider.url);
  });
  after(() => provider.stop());
  beforeEach(async () => {
    provider.calls.length = 0;
    answers = 'success';
    await startFleetClock();
  });
  afterEach(() => clock.stop());

  function answer({ url }: PlayedCall, response: ServerResponse): void {
    const ref_id = url.searchParams.get('ref_id');
    const reply = {
      success: { status: '00', transaction_status: 'success', message: 'Success', sn: `SN${ref_id ?? ''}` },
      pending: { status: '05', transaction_status: 'pending', message: 'Wait', sn: null },
      refused: null,
    }[answers];
    sendJson(response, 200, reply ? { ref_id, ...reply } : { status: '02', message: 'Not sold here' });
  }

  async function startFleetClock(): Promise<void> {
    clock = keepFleetClock();
    await clock.measured;
  }

  /** Makes the fleet time unknown, as when Redis does not respond. */
  const nobodyKnowsTheTime = () => clock.stop();
  /**
   * After its next reply, Redis reports a time that is ten seconds ahead.
   * @returns a function that ends the shift.
   */
  function makeClockRunAway(): () => void {
    let replyCount = 0;
    return shiftRedisTime(redis(), () => (replyCount++ === 0 ? 0 : 10_000));
  }

  const tryToFulfil = (id: string, how = {}) => fulfilById(id, how).catch((error: unknown) => error);
  const ordersOf = (purchaseId: string) =>
    OrderModel.find({ transactionId: purchaseId }).sort({ n: 1 }).lean<Order[]>();
  const codesOf = async (id: string) => (await ordersOf(id)).map(({ code }) => code);
  const read = (id: string) => PurchaseModel.findById(id).orFail().lean<Purchase>();

  /** Moves the times of the purchase's orders back by `ms` milliseconds. */
  async function ageOrders(id: string, ms: number): Promise<void> {
    for (const order of await ordersOf(id)) {
      const before = (date: Date | null) => date && new Date(date.getTime() - ms);
      const [sentAt, lastCheckAt, updatedAt] = [order.sentAt, order.lastCheckAt, order.updatedAt].map(before);
      await OrderModel.updateOne(getOrderKey(order), { $set: { sentAt, lastCheckAt, updatedAt } });
    }
  }

  it('repeated late attempts leave one order, and the same seller then sells', async () => {
    const { _id: id } = await shop.buy();
    await nobodyKnowsTheTime();
    for (let round = 0; round < 3; round += 1) {
      expect(await tryToFulfil(id)).to.be.instanceOf(DeferJobError);
    }
    expect(await codesOf(id)).to.deep.equal(['too-late']);
    expect(provider.calls).to.have.length(0);
    await startFleetClock();
    await fulfilById(id);
    expect(await codesOf(id)).to.deep.equal(['too-late', '00']);
    expect(await read(id)).to.include({ status: 'SUCCESS', sellerId: shop.seller._id });
  });

  it("a refusal after a late order is refunded at once with the seller's code", async () => {
    const { _id: id } = await shop.buy();
    await nobodyKnowsTheTime();
    await tryToFulfil(id);
    await startFleetClock();
    answers = 'refused';
    await fulfilById(id);
    expect(await read(id)).to.include({ status: 'FAILED', failureCode: '02' });
    expect(await codesOf(id)).to.have.length(2);
  });

  it('the job of a late order is retried by itself', async () => {
    const { _id: id } = await shop.buy();
    await nobodyKnowsTheTime();
    const workers = startAllWorkers();
    try {
      await addJob(fulfilPurchaseJob, { purchaseId: id, accountId: shop.buyer._id });
      await eventually('the order is late', async () => (await codesOf(id))[0] === 'too-late');
      await startFleetClock();
      await eventually('the purchase is sold', async () => (await read(id)).status === 'SUCCESS');
      expect(await codesOf(id)).to.deep.equal(['too-late', '00']);
    } finally {
      await workers.close();
    }
  });

  it('a late order waits for its seller even if another seller has refused', async () => {
    const own = await openShop(provider.url);
    const { _id: id } = await own.buy();
    const { _id, n, ...late } = await lateOrder(id);
    await startFleetClock();
    const refused = { ...late, sellerId: shop.seller._id, code: '02' };
    await OrderModel.bulkWrite([
      { updateOne: { filter: { _id }, update: { $set: { n: 2 } } } },
      { insertOne: { document: { ...refused, n, _id: `${id}-other` } } },
    ]);
    await openCircuit(own.seller._id, 'float');
    await fulfilById(id);
    expect(await read(id)).to.include({ status: 'PROCESSING', failureCode: null });
  });

  it('an unreachable seller that later refuses causes a refund with its code', async () => {
    const own = await openShop('http://127.0.0.1:1');
    const { _id: id } = await own.buy();
    await fulfilById(id);
    expect(await codesOf(id)).to.deep.equal(['not-sent']);
    await writeAndInvalidate([AccountModel], null, (accounts) =>
      accounts.updateOne({ _id: own.seller._id }, { $set: { 'provider.baseUrl': provider.url } }),
    );
    answers = 'refused';
    await ageOrders(id, 6_000);
    await fulfilById(id);
    expect(await read(id)).to.include({ status: 'FAILED', failureCode: '02' });
  });

  for (const [lates, status] of [
    [4, 'SUCCESS'],
    [5, 'FAILED'],
  ] as const) {
    it(`an order late ${lates} times in a row after its maximum wait ends as ${status}`, async () => {
      const { _id: id, accountId } = await shop.buy();
      const { _id, n, ...late } = await lateOrder(id);
      const more = Array.from({ length: lates - 1 }, (_each, place) => place + n + 1);
      await OrderModel.insertMany(more.map((each) => ({ ...late, _id: `${id}-${each}`, n: each })));
      await PurchaseModel.updateOne(
        { _id: id, accountId },
        { $set: { createdAt: new Date(Date.now() - 3_600_000) } },
      );
      await startFleetClock();
      await fulfilById(id);
      expect(await read(id)).to.include({ status });
    });
  }

  async function lateOrder(id: string): Promise<Order> {
    await nobodyKnowsTheTime();
    await tryToFulfil(id);
    const [order] = await ordersOf(id);
    if (order?.code !== 'too-late') {
      throw new Error(`The order is not late: ${JSON.stringify(order)}`);
    }
    return order;
  }

  const checks = [
    { askNow: true, when: 'before its claim', isKnown: false },
    { askNow: true, when: 'after its claim', isKnown: true },
    { askNow: false, when: 'before its claim', isKnown: false },
    { askNow: false, when: 'after its claim', isKnown: true },
  ];
  for (const { askNow, when, isKnown } of checks) {
    const trigger = askNow ? 'after a callback' : 'on the schedule';
    it(`a status check ${trigger} that is late ${when} is not counted and is retried`, async () => {
      answers = 'pending';
      const { _id: id } = await shop.buy();
      await fulfilById(id);
      await ageOrders(id, 60_000);
      const [before] = await ordersOf(id);
      const calls = provider.calls.length;
      const untilMs = Date.now() + 120_000;
      const timeStands = isKnown ? makeClockRunAway() : undefined;
      if (!isKnown) {
        await nobodyKnowsTheTime();
      }
      answers = 'success';
      await fulfilById(id, { askNow });
      timeStands?.();
      await clock.stop();
      const [after] = await ordersOf(id);
      expect(provider.calls).to.have.length(calls);
      expect(after).to.deep.include({ checks: before?.checks, lastCheckAt: before?.lastCheckAt, open: true });
      expect(after?.leaseToken === before?.leaseToken, 'lease of the claim').to.equal(!isKnown);
      const { nextActionAt } = await read(id);
      if (askNow) {
        const jobs = await openQueue(askProviderJob.queue).getJobs(['delayed', 'waiting']);
        const own = jobs.filter(({ data }) => (data as { purchaseId: string }).purchaseId === id);
        expect(own.map(({ data }) => (data as { askNow: boolean }).askNow)).to.include(true);
      } else {
        expect(nextActionAt?.getTime(), 'time of the next sweep').to.be.below(untilMs);
      }
      await startFleetClock();
      await fulfilById(id, { askNow });
      expect(await read(id)).to.include({ status: 'SUCCESS' });
    });
  }

  const verifications = async () =>
    (await openQueue(verifySaleJob.queue).getJobs(['delayed', 'waiting'])).map(
      ({ data }) => (data as { purchaseId: string }).purchaseId,
    );

  for (const isKnown of [false, true]) {
    it(`a reversal check that is late ${isKnown ? 'after' : 'before'} its claim is not counted and is retried`, async () => {
      const { _id: id } = await shop.buy();
      await fulfilById(id);
      await ageOrders(id, 60_000);
      const [before] = await ordersOf(id);
      const timeStands = isKnown ? makeClockRunAway() : undefined;
      if (!isKnown) {
        await nobodyKnowsTheTime();
      }
      const calls = provider.calls.length;
      await verifySale(id, shop.buyer._id);
      timeStands?.();
      expect(provider.calls).to.have.length(calls);
      const [after] = await ordersOf(id);
      expect(after).to.deep.include({ checks: before?.checks, lastCheckAt: before?.lastCheckAt });
      expect(await verifications()).to.include(id);
    });
  }

  it('an operator sees no late order as sent and cannot decide on it', async () => {
    const { _id: id } = await shop.buy();
    const late = await lateOrder(id);
    const purchase = { ...(await read(id)), status: 'PROCESSING' as const };
    const { success, failed } = getPossibleDecisions(purchase, [late]);
    expect(success).to.match(/^No order was sent/);
    expect(failed).to.equal(null);
    // If a provider reports an order as not executed, an operator may still decide it.
    const asked = { ...late, _id: `${id}-asked`, sellerId: 'asked', code: 'not-executed' };
    expect(findOrderToBook([asked, late])?.sellerId).to.equal('asked');
    expect(getPossibleDecisions(purchase, [asked, late]).success).to.equal(null);
  });

  it('a late order keeps its place in the provider queue if its job is lost', async () => {
    const { _id: id } = await shop.buy();
    await nobodyKnowsTheTime();
    const turnAt = shop.seller._id;
    const beforeMs = Date.now();
    expect(await tryToFulfil(id, { turnAt })).to.be.instanceOf(DeferJobError);
    const { queuedFor, nextActionAt, status } = await read(id);
    expect({ queuedFor, status }).to.deep.equal({ queuedFor: turnAt, status: 'PROCESSING' });
    expect(nextActionAt?.getTime()).to.be.within(beforeMs, beforeMs + 20_000);
    await startFleetClock();
    await fulfilById(id, { turnAt });
    expect(await read(id)).to.include({ status: 'SUCCESS', queuedFor: null });
  });

  /**
   * Simulates a change by another process between our read of an order and our first write to it.
   */
  function simulateConcurrentUpdate(order: Parameters<typeof getOrderKey>[0], $set: Partial<Order>): void {
    const update = OrderModel.updateOne.bind(OrderModel);
    OrderModel.updateOne = ((...given: Parameters<typeof update>) => {
      OrderModel.updateOne = update;
      const others = update(getOrderKey(order), { $set });
      return others.then(() => update(...given)) as unknown as ReturnType<typeof update>;
    }) as typeof update;
  }

  it('a late order is left to the process that is already checking it', async () => {
    const { _id: id, accountId } = await shop.buy();
    await nobodyKnowsTheTime();
    const inAMinute = new Date(Date.now() + 60_000);
    const theirs = { leaseToken: 'theirs', leaseUntil: inAMinute, status: 'UNKNOWN' as const, checks: 1 };
    simulateConcurrentUpdate({ _id: `${id}-1`, accountId }, { ...theirs, lastCheckAt: new Date() });
    expect(await tryToFulfil(id, { turnAt: shop.seller._id })).not.to.be.instanceOf(Error);
    expect(await ordersOf(id)).to.have.length(1);
    expect((await ordersOf(id))[0]).to.deep.include({ ...theirs, open: true, code: null });
    expect(await read(id)).to.include({ status: 'PROCESSING', queuedFor: null });
  });

  it('a status check that another process has overtaken is not sent', async () => {
    answers = 'pending';
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    const [order] = await ordersOf(id);
    const purchase = await read(id);
    const longAgo = new Date(Date.now() - 600_000);
    const seen = { ...(order as Order), sentAt: longAgo, lastCheckAt: longAgo };
    // Create the state after another process has claimed the status check since our process read
    // the order.
    await OrderModel.updateOne(getOrderKey(seen), { $set: { sentAt: longAgo, lastCheckAt: new Date() } });
    const calls = provider.calls.length;
    expect(await checkOrder(purchase, seen, { askNow: true })).to.equal('done');
    expect(provider.calls).to.have.length(calls);
    await OrderModel.updateOne(getOrderKey(seen), { $set: { lastCheckAt: longAgo } });
    await checkOrder(purchase, seen, { askNow: true });
    expect(provider.calls).to.have.length(calls + 1);
  });

  it('an overtaken reversal check is retried, because no sweep would retry it', async () => {
    answers = 'pending';
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    const [order] = await ordersOf(id);
    const longAgo = new Date(Date.now() - 600_000);
    await OrderModel.updateOne(getOrderKey(order as Order), {
      $set: { status: 'OK', open: false, sentAt: longAgo, lastCheckAt: longAgo },
    });
    await PurchaseModel.updateOne({ _id: id, accountId: shop.buyer._id }, { $set: { status: 'SUCCESS' } });
    const calls = provider.calls.length;
    simulateConcurrentUpdate(order as Order, { lastCheckAt: new Date() });
    await verifySale(id, shop.buyer._id);
    expect(provider.calls).to.have.length(calls);
    expect(await verifications()).to.include(id);
  });

  it('a status check of an order without a provider address is not counted', async () => {
    answers = 'pending';
    const { _id: id } = await shop.buy();
    await fulfilById(id);
    const [order] = await ordersOf(id);
    const purchase = await read(id);
    const longAgo = new Date(Date.now() - 600_000);
    const broken = { ...(order as Order), sentAt: longAgo, lastCheckAt: longAgo, providerBaseUrl: null };
    await OrderModel.updateOne(getOrderKey(broken), { $set: { sentAt: longAgo, lastCheckAt: longAgo } });
    const failure = await checkOrder(purchase, broken, { askNow: true }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    const [after] = await ordersOf(id);
    expect(after).to.deep.include({ checks: order?.checks, lastCheckAt: longAgo });
  });
});
