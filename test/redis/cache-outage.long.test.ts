/**
 * A price changes while a process is killed, suspended or cut off from Redis. Other processes use
 * the old price only for a short time.
 */
import { once } from 'node:events';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { limits } from '../../config/limits.js';
import { addProduct, newBuyer } from '../providers/provider-stack.js';
import { sendCall } from '../api/support/api.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { startTcpGate, type Outage } from '../support/outage.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import type { RunningProgram } from '../support/start-program.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';

describe('a change while a process misses its invalidation', function () {
  this.timeout(120_000);
  let privateRedis: PrivateRedis;
  let redis: Redis;
  let stack: Stack;
  let seeded: Record<string, SeededAccount>;
  /** The gate between the other web process and Redis. */
  let gate: Outage;
  let other: RunningProgram;
  let buyer: ApiClient;
  let sellerId: string;
  let code: string;
  let price: number;

  before(async () => {
    privateRedis = await startPrivateRedis();
    redis = new Redis(privateRedis.url);
    gate = await startTcpGate(privateRedis.url);
    stack = await startStack({ env: { REDIS_URL: privateRedis.url } });
    seeded = await stack.seed();
    other = await stack.startWeb({ REDIS_URL: gate.url });
    await newBuyer(stack, seeded['buyer']?.api_key ?? '');
    buyer = apiClient(other.url, seeded['buyer']?.api_key ?? '');
    sellerId = String((await stack.db.collection('accounts').findOne({ username: 'seller' }))?._id);
  });
  after(async () => {
    await gate.restore();
    await stack.stop();
    await gate.stop();
    redis.disconnect();
    await privateRedis.stop();
  });
  beforeEach(async () => {
    price = 10_000;
    code = await addProduct(stack, [{ sellerId, price }]);
    await bothHear();
    expect(await priceThere()).to.equal(price);
  });
  afterEach(() => gate.restore());

  const hearers = () => redis.zcount(`${String(stack.env['QUEUE_PREFIX'])}:hearers`, Date.now(), '+inf');
  const bothHear = () => eventually('both processes are subscribed', async () => (await hearers()) === 2);
  const priceThere = async () => {
    const body = { product_code: code, destination: '081234561230', ref_id: uniqueRef() };
    const answer = await buyer.post('/v1/transactions', body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body.data.price as number;
  };
  /**
   * Raises the price.
   * @returns the latency of the seller's call in milliseconds.
   */
  const raise = async (): Promise<number> => {
    price += 1;
    const startedAt = performance.now();
    const answer = await sendCall(stack.baseUrl, {
      path: `/api/seller/products/${code}/offers`,
      key: seeded['seller']?.api_key ?? '',
      body: { price },
    });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return performance.now() - startedAt;
  };

  const outages: [name: string, begin: () => unknown][] = [
    ['its Redis hangs', () => gate.hang()],
    ['its connections to Redis break', () => gate.cut()],
    ['Redis closes the subscriptions', () => redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')],
    ['Redis loses all data', () => privateRedis.empty()],
  ];
  for (const [name, begin] of outages) {
    it(`${name}: is acknowledged in time and effective for the next call`, async () => {
      await begin();
      expect(await raise()).to.be.below(limits.hearingMs + 700);
      expect(await priceThere()).to.equal(price);
      await gate.restore();
      await bothHear();
      await eventually('changes are quick again', async () => (await raise()) < limits.hearingMs / 2);
      expect(await priceThere()).to.equal(price);
    });
  }

  it('takes effect within a second in a process that is cut off', async () => {
    await gate.cut();
    await eventually('one subscriber is left', async () => (await hearers()) === 1);
    expect(await priceThere()).to.equal(price);
    await raise();
    const raisedAtMs = performance.now();
    await eventually('the new price applies', async () => (await priceThere()) === price);
    expect(performance.now() - raisedAtMs).to.be.below(limits.cacheDeafMs + 500);
  });

  it('takes effect before the next call of a paused process', async () => {
    process.kill(other.pid, 'SIGSTOP');
    try {
      expect(await raise()).to.be.below(limits.hearingMs + 700);
    } finally {
      process.kill(other.pid, 'SIGCONT');
    }
    expect(await priceThere()).to.equal(price);
  });

  it('waits once, for at most a second, for a killed process', async () => {
    const third = await stack.startWeb();
    await third.stop('SIGKILL');
    expect(await raise()).to.be.below(limits.hearingMs + 700);
    expect(await priceThere()).to.equal(price);
    await bothHear();
    expect(await raise()).to.be.below(limits.hearingMs);
  });

  it('does not wait for a process that has shut down', async () => {
    const third = await stack.startWeb();
    await eventually('three processes are subscribed', async () => (await hearers()) === 3);
    await third.stop();
    expect(await hearers()).to.equal(2);
  });

  it('takes effect within a second if its process dies before the invalidation', async () => {
    const child = forkTestProgram('test/redis/dying-process', { ...stack.env, PRODUCT_CODE: code });
    await once(child, 'message');
    // The cached price was read before the commit, and the process that should invalidate it is
    // dead.
    expect(await priceThere()).to.equal(price);
    child.send('go on');
    await once(child, 'exit');
    const startedAt = performance.now();
    await eventually('the new price applies', async () => (await priceThere()) === 20_000, 5_000);
    expect(performance.now() - startedAt).to.be.below(limits.cacheDeafMs + 500);
  });

  it('is acknowledged and effective everywhere while Redis is unreachable', async () => {
    await redis.call('CLIENT', 'PAUSE', '3000', 'ALL');
    expect(await raise()).to.be.below(3_000);
    expect(await priceThere()).to.equal(price);
    await bothHear();
  });
});
