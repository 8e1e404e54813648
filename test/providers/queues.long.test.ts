/**
 * One queue per provider: order of execution, fleet-wide limits, backlog, pauses, and removed
 * providers.
 */
import { Queue } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { getProviderQueue } from '../../src/providers/provider-queue.js';
import type { Order } from '../../src/purchases/order.model.js';
import { announceChange } from '../support/announce-change.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';
import { requestPath } from '../api/support/reseller.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import { playedSellers, respondWithSuccess } from './played-sellers.js';
import { addProduct, waitUntilFinal, newBuyer, purchase, transactionOf } from './provider-stack.js';

const size = sizes.backlog;
const atOnce = 10;

describe('provider queues', function () {
  this.timeout(120_000);
  let stack: Stack;
  let buyer: ApiClient;
  let buyerKey: string;
  let redis: Redis;
  let play: ReturnType<typeof playedSellers>['play'];
  let set: ReturnType<typeof playedSellers>['set'];
  let stopPlayed: () => Promise<unknown>;

  before(async () => {
    stack = await startStack({ env: { FULFILMENT_CONCURRENCY: '8' } });
    ({ play, set, stop: stopPlayed } = playedSellers(stack));
    buyerKey = (await stack.seed())['buyer']?.api_key ?? '';
    buyer = await newBuyer(stack, buyerKey);
    redis = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
    await Promise.all([
      stack.startWorker('fulfilment', 'follow-up'),
      stack.startWorker('fulfilment', 'follow-up'),
    ]);
  });
  after(async () => {
    redis.disconnect();
    await stack.stop();
    await stopPlayed();
  });

  const ordersOf = (ids: string[]) =>
    stack.db
      .collection<Order>('attempts')
      .find({ transactionId: { $in: ids } })
      .toArray();

  async function buyMany(count: number, code: string): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      ids.push(await purchase(buyer, code, `0812000${String(index).padStart(4, '0')}9`));
    }
    return ids;
  }

  it("serve in order at the provider's rate; waiting creates no order and no refund", async () => {
    const callsPerSecond = 2;
    const { code, arrivals } = await play(respondWithSuccess, { callsPerSecond });
    const ids = await buyMany(24, code);
    const finals = await Promise.all(ids.map((id) => waitUntilFinal(stack, id, 60_000)));
    expect(finals.map(({ status }) => status)).to.deep.equal(ids.map(() => 'SUCCESS'));
    const places = arrivals.map(({ refId }, place) =>
      Math.abs(ids.indexOf(refId.split('-')[0] ?? '') - place),
    );
    // On a busy machine, two calls from different processes may swap places even if they are half a
    // second apart.
    expect(Math.max(...places), 'places between turn and execution').to.be.at.most(3);
    expect(new Set(arrivals.map(({ refId }) => refId)).size).to.equal(ids.length);
    expect(await ordersOf(ids)).to.have.length(ids.length);
    const seconds = ((arrivals.at(-1)?.atMs ?? 0) - (arrivals[0]?.atMs ?? 0)) / 1_000;
    expect(seconds, 'seconds at the rate limit').to.be.at.least((ids.length - 2) / callsPerSecond);
  });

  it('limit concurrent calls to a provider across all processes', async () => {
    let busy = 0;
    let most = 0;
    const { code } = await play(
      (call, response) => {
        busy += 1;
        most = Math.max(most, busy);
        setTimeout(() => {
          busy -= 1;
          respondWithSuccess(call, response);
        }, 60);
      },
      { concurrency: 3 },
    );
    const ids = await buyMany(30, code);
    await Promise.all(ids.map((id) => waitUntilFinal(stack, id)));
    expect(most).to.be.within(2, 3);
    expect(await ordersOf(ids)).to.have.length(ids.length);
  });

  it('refuse with 03 and Retry-After a purchase that would wait too long', async () => {
    const { code, arrivals } = await play(respondWithSuccess, { callsPerSecond: 0.25, maxWaitS: 16 });
    const buyOne = () =>
      apiClient(stack.baseUrl, buyerKey).post('/v1/transactions', {
        product_code: code,
        destination: '081234567899',
        ref_id: uniqueRef(),
      });
    const answers: Awaited<ReturnType<typeof buyOne>>[] = [];
    while (answers.length < 12) {
      answers.push(await buyOne());
    }
    const accepted = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    const signing = { username: 'buyer', key: buyerKey };
    await eventually('a reseller order is refused', async () => {
      const order = { code, customer: '081234567899', ref_id: uniqueRef() };
      const others = Promise.all([buyOne(), buyOne(), buyOne()]);
      const reseller = await fetch(stack.baseUrl + requestPath(signing, order));
      expect(reseller.status, 'the reseller surface always answers 200').to.equal(200);
      const [{ status }] = await Promise.all([reseller.json() as Promise<{ status: string }>, others]);
      expect(status).to.be.oneOf(['00', '03']);
      return status === '03';
    });
    expect(accepted.length).to.be.within(4, 8);
    for (const { status, headers, body } of refused) {
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([503, '03']);
      expect(Number(headers['retry-after']), 'seconds until the queue is short enough').to.be.within(1, 32);
    }
    await eventually(
      'the queue is empty',
      async () => {
        const open = await stack.db
          .collection('transactions')
          .countDocuments({ productCode: code, finalAt: null });
        return open === 0;
      },
      60_000,
    );
    expect(arrivals.length).to.be.at.least(4);
  });

  it(`serve ${size.purchases} purchases at ${size.callsPerSecond}/s in order, and refuse those that would wait over ${size.maxWaitS} s @sized`, async function () {
    this.timeout(size.limitMs);
    const { purchases, callsPerSecond, maxWaitS, limitMs } = size;
    const { code, arrivals } = await play(respondWithSuccess, { callsPerSecond });
    await stack.db.collection<{ _id: string }>('products').updateOne({ _id: code }, { $set: { maxWaitS } });
    await announceChange(stack);
    const answers: Awaited<ReturnType<ApiClient['post']>>[] = [];
    while (answers.length < purchases) {
      const order = () => ({ product_code: code, destination: '081234567899', ref_id: uniqueRef() });
      const some = Array.from({ length: Math.min(atOnce, purchases - answers.length) }, order);
      answers.push(...(await Promise.all(some.map((each) => buyer.post('/v1/transactions', each)))));
    }
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.length, 'refused purchases').to.be.greaterThan(0);
    for (const { status, headers, body } of refused) {
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([503, '03']);
      expect(Number(headers['retry-after'])).to.be.greaterThan(0);
    }
    const ids = answers.filter(({ status }) => status === 201).map(({ body }) => String(body.data.id));
    expect(ids.length, 'accepted purchases').to.be.at.least((maxWaitS * callsPerSecond) / 2);
    const finals = await Promise.all(ids.map((id) => waitUntilFinal(stack, id, limitMs)));
    const late = finals.filter(({ status }) => status !== 'SUCCESS');
    for (const { status, failureCode, message, createdAt, finalAt } of late) {
      expect([status, failureCode]).to.deep.equal(['FAILED', '03']);
      expect(message).to.equal(`No seller could serve it within ${maxWaitS} seconds.`);
      expect((finalAt?.getTime() ?? 0) - createdAt.getTime()).to.be.at.least(maxWaitS * 1_000);
    }
    const sold = finals.filter(({ status }) => status === 'SUCCESS').map(({ _id }) => _id);
    expect(await ordersOf(ids), 'one sent order per sale').to.have.length(sold.length);
    const places = arrivals.map(({ refId }, place) =>
      Math.abs(sold.indexOf(refId.split('-')[0] ?? '') - place),
    );
    expect(places).to.have.length(sold.length);
    // Purchases that are accepted at the same time have no defined order.
    expect(Math.max(...places), 'places between acceptance and execution').to.be.at.most(2 * atOnce);
  });

  it("fix the product's maximum wait at acceptance, limited by the provider's", async () => {
    const { code, sellerId } = await play(respondWithSuccess, { callsPerSecond: 0.1, maxWaitS: 3_000 });
    const products = stack.db.collection<{ _id: string }>('products');
    await products.updateOne({ _id: code }, { $set: { maxWaitS: 30 } });
    await announceChange(stack);
    const ids = await buyMany(3, code);
    await products.updateOne({ _id: code }, { $set: { maxWaitS: 1 } });
    await announceChange(stack);
    expect((await transactionOf(stack, ids[2] ?? ''))?.maxWaitS).to.equal(30);
    await set(sellerId, { maxWaitS: 2 });
    const last = await waitUntilFinal(stack, ids[2] ?? '');
    expect(last).to.include({ status: 'FAILED', message: 'No seller could serve it within 2 seconds.' });
  });

  it('let a waiting reseller call overtake a batch without starving the batch', async () => {
    const { code, arrivals } = await play(respondWithSuccess, { callsPerSecond: 3 });
    const signing = { username: 'buyer', key: buyerKey };
    const resell = async () => {
      const order = { code, customer: '081234567899', ref_id: uniqueRef() };
      return (await (await fetch(stack.baseUrl + requestPath(signing, order))).json()) as object;
    };
    const buyOne = () => purchase(buyer, code, '081234567899');
    const batch = await Promise.all(Array.from({ length: 24 }, buyOne));
    const answered = await resell();
    expect(answered, 'answer within the wait').to.include({ status: '00', transaction_status: 'success' });
    const before = arrivals.length;
    expect(before, 'served orders of the batch').to.be.below(batch.length);
    const flood = Promise.all(Array.from({ length: 15 }, resell));
    await Promise.all(batch.map((id) => waitUntilFinal(stack, id, 60_000)));
    const isOfBatch = arrivals.map(({ refId }) => batch.includes(refId.split('-')[0] ?? ''));
    const since = isOfBatch.slice(before, isOfBatch.lastIndexOf(true) + 1);
    const ahead = since.filter((each) => !each).length;
    expect(ahead, 'overtaking calls').to.be.greaterThan(0);
    // Three orders may overtake in each window of 5 s. The first window may already be partly used.
    expect(ahead, 'overtaking calls').to.be.at.most(9);
    await flood;
    await eventually('the flood is served', () => arrivals.length === batch.length + 16, 60_000);
  });

  it('refund an unsent purchase that waits too long, and state the maximum wait', async () => {
    const { code, arrivals, sellerId } = await play(respondWithSuccess, { callsPerSecond: 1 });
    const ids = await buyMany(6, code);
    await set(sellerId, { maxWaitS: 2 });
    const finals = await Promise.all(ids.map((id) => waitUntilFinal(stack, id, 60_000)));
    const late = finals.filter(({ status }) => status === 'FAILED');
    expect(late, 'refunded purchases').to.have.length.within(2, 5);
    const sent = new Set(arrivals.map(({ refId }) => refId.split('-')[0]));
    for (const { _id, message, failureCode } of late) {
      expect(message).to.equal('No seller could serve it within 2 seconds.');
      expect(failureCode).to.equal('03');
      expect(sent.has(_id), 'sent to the provider').to.equal(false);
    }
    await expectLedgerToBalance(stack);
  });

  it('send nothing during the pause of a 429 with Retry-After, and sell afterwards', async () => {
    const pauseS = 3;
    let refusals = 0;
    const { code, arrivals } = await play((call, response) => {
      if (refusals++ === 0) {
        response.writeHead(429, { 'retry-after': String(pauseS) });
        response.end();
      } else {
        respondWithSuccess(call, response);
      }
    });
    const id = await purchase(buyer, code, '081234567899');
    await eventually('the refusal', async () => {
      const [order] = await ordersOf([id]);
      return order?.code === 'not-sent';
    });
    // Each process caches the state of a provider for 200 ms.
    await eventually('other purchases are refused', async () => {
      const { status, body, headers } = await buyer.post('/v1/transactions', {
        product_code: code,
        destination: '081234567899',
        ref_id: uniqueRef(),
      });
      return status === 503 && body.code === '03' && Number(headers['retry-after']) > 0;
    });
    expect((await waitUntilFinal(stack, id, 60_000)).status).to.equal('SUCCESS');
    const [first, second] = arrivals;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).to.be.at.least(pauseS * 1_000 - 5);
    expect(arrivals.filter(({ refId }) => refId.startsWith(id))).to.have.length(2);
  });

  it('end a pause requested by a provider when an operator resumes it', async () => {
    const { code, sellerId, arrivals } = await play((call, response) => {
      if (arrivals.length === 1) {
        response.writeHead(429, { 'retry-after': '3600' });
        response.end();
      } else {
        respondWithSuccess(call, response);
      }
    });
    const seller = await stack.db
      .collection<{ _id: string; username: string }>('accounts')
      .findOne({ _id: sellerId });
    const id = await purchase(buyer, code, '081234567899');
    await eventually('the refusal', async () => (await ordersOf([id]))[0]?.code === 'not-sent');
    const result = await topup(
      ['provider', 'resume', seller?.username ?? '', '--reason', 'they are back'],
      stack.env,
    );
    expect(result.stdout).to.contain('in service again');
    expect((await waitUntilFinal(stack, id, 60_000)).status).to.equal('SUCCESS');
  });

  it('pass the orders of a removed provider to others, and disappear from Redis', async function () {
    this.timeout(300_000);
    const removed = await play(respondWithSuccess, { callsPerSecond: 0.1 });
    const other = await play(respondWithSuccess);
    const code = await addProduct(stack, [
      { sellerId: removed.sellerId, price: 10_000 },
      { sellerId: other.sellerId, price: 10_000 },
    ]);
    // Sellers with equal prices may come in either order. So only the seller that is removed later
    // has an active offer during acceptance.
    const offers = stack.db.collection<{ _id: string }>('offers');
    await offers.updateOne({ _id: `${code}:${other.sellerId}` }, { $set: { status: 'inactive' } });
    await announceChange(stack);
    const ids = await buyMany(12, code);
    await offers.updateOne({ _id: `${code}:${other.sellerId}` }, { $set: { status: 'active' } });
    await stack.db
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: removed.sellerId }, { $set: { provider: null } });
    await announceChange(stack);
    const finals = await Promise.all(ids.map((id) => waitUntilFinal(stack, id, 60_000)));
    expect(finals.map(({ status }) => status)).to.deep.equal(ids.map(() => 'SUCCESS'));
    expect(removed.arrivals.length + other.arrivals.length).to.equal(ids.length);
    expect(other.arrivals.length).to.be.at.least(8);
    // The queue is kept for two minutes, because the sweep may still add jobs. End that period now.
    await redis.zadd(`${stack.env['QUEUE_PREFIX'] ?? ''}:provider-queues`, 0, removed.sellerId);
    const left = () =>
      redis.keys(`${stack.env['QUEUE_PREFIX'] ?? ''}:${getProviderQueue(removed.sellerId).name}:*`);
    const gonePromptly = () =>
      eventually('the queue is gone', async () => String(await left()) === '', 90_000);
    await gonePromptly();
    // Another process may read the queue for the first time just after its removal, which creates
    // its keys again.
    const late = new Queue(getProviderQueue(removed.sellerId).name, {
      connection: redis,
      prefix: stack.env['QUEUE_PREFIX'] ?? '',
    });
    await late.waitUntilReady();
    await late.getWorkersCount();
    expect(await left()).to.not.deep.equal([]);
    await gonePromptly();
  });
});
