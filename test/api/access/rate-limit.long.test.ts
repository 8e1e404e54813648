import { expect } from 'chai';
import { env } from '../../../config/env.js';
import { resetRateLimit, refundRateLimit, consumeRateLimit } from '../../../src/redis/rate-limit.js';
import { redis } from '../../../src/redis/connection.js';
import { apiClient, uniqueRef, type Answer } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { startStack, type Stack } from '../../support/stack.js';
import { useApi } from '../support/api.js';
import { expectFailure } from '../support/expect-answer.js';
import { hmacSign, pathOf } from '../support/reseller.js';

describe('rate limit with two web processes', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  it('accepts 60 of 150 calls on all surfaces and refuses the rest with 06', async () => {
    const second = await stack.startWeb();
    const { username = '', api_key: key = '' } = (await stack.seed())['buyer'] ?? {};
    await stack.db.collection('accounts').updateOne({ username }, { $set: { rateLimit: 60 } });
    const clients = [apiClient(stack.baseUrl, key), apiClient(second.url, key)];
    const depo = pathOf('balance', { username, sign: hmacSign({ username, key }, 'depo') });
    const calls = Array.from({ length: 150 }, (_, index) => async (): Promise<Answer> => {
      const client = clients[index % 2] ?? apiClient(stack.baseUrl, key);
      switch (index % 3) {
        case 0:
          return client.post('/api/buyer/balance');
        case 1:
          return client.get('/v1/wallet/balance');
        default:
          return client.get(depo);
      }
    });
    // Send half of the calls one by one and half concurrently. Both must be counted alike.
    const answers: Answer[] = [];
    for (const call of calls.slice(0, 30)) {
      answers.push(await call());
    }
    answers.push(...(await Promise.all(calls.slice(30).map((call) => call()))));
    const codes = answers.map((each) => (each.body.code ?? each.body.status) as string);
    expect(codes.filter((code) => code === '00')).to.have.length(60);
    expect(codes.filter((code) => code === '06')).to.have.length(90);
    for (const refused of answers.filter((_, index) => codes[index] === '06')) {
      expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
      expect(refused.headers['ratelimit-remaining']).to.equal('0');
      expect(refused.headers['retry-after']).to.equal(refused.headers['ratelimit-reset']);
    }
    const left = answers.slice(0, 30).map((each) => Number(each.headers['ratelimit-remaining']));
    expect(left).to.deep.equal(Array.from({ length: 30 }, (_, index) => 59 - index));

    const other = apiClient(stack.baseUrl, (await stack.seed())['buyer2']?.api_key ?? '');
    expect((await other.post('/api/buyer/balance')).status, "another account's calls").to.equal(200);
  });
});

describe('rate limit', () => {
  const api = useApi();
  const takeFromMinute = (key: string, max: number) => consumeRateLimit(key, { max, windowMs: 60_000 });

  it('resets when the minute is over', async () => {
    const key = `test:${uniqueRef()}`;
    const take = () => takeFromMinute(key, 2);
    expect(await take()).to.include({ accepted: true, remaining: 1, limit: 2 });
    // Shorten the current window to 300 ms.
    await redis().pexpire(`${env.QUEUE_PREFIX}:${key}`, 300);
    expect(await take()).to.include({ accepted: true, remaining: 0 });
    const refused = await take();
    expect(refused.accepted).to.equal(false);
    expect(refused.resetMs).to.be.within(1, 300);
    expect(
      await eventually('the next minute begins', async () => ((await take()).accepted ? 'accepted' : null)),
    ).to.equal('accepted');
  });

  it('a counter that lost its expiry in Redis gets a new one', async () => {
    const key = `test:${uniqueRef()}`;
    await redis().set(`${env.QUEUE_PREFIX}:${key}`, 1);
    expect(await takeFromMinute(key, 5)).to.include({ accepted: true, remaining: 3 });
    expect(await redis().pttl(`${env.QUEUE_PREFIX}:${key}`)).to.be.within(1, 60_000);
  });

  it('an exhausted limit refuses locally, and a raised limit keeps the accepted count', async () => {
    const key = `test:${uniqueRef()}`;
    for (let n = 0; n < 5; n++) {
      await takeFromMinute(key, 3);
    }
    expect(await redis().get(`${env.QUEUE_PREFIX}:${key}`)).to.equal('3');
    await redis().set(`${env.QUEUE_PREFIX}:${key}`, 0, 'PX', 60_000);
    expect((await takeFromMinute(key, 3)).accepted, 'accepted from the local count').to.equal(false);
    await redis().set(`${env.QUEUE_PREFIX}:${key}`, 3, 'PX', 60_000);
    expect(await takeFromMinute(key, 5)).to.include({ accepted: true, remaining: 1 });
  });

  it('refuses a call if other processes used up the limit, and does not count it', async () => {
    const key = `test:${uniqueRef()}`;
    await redis().set(`${env.QUEUE_PREFIX}:${key}`, 3, 'PX', 60_000);
    expect(await takeFromMinute(key, 3)).to.include({ accepted: false, remaining: 0 });
    expect(await redis().get(`${env.QUEUE_PREFIX}:${key}`)).to.equal('3');
  });

  it('uses the count in Redis again after an outage with local refusals', async () => {
    const key = `test:${uniqueRef()}`;
    const day = { max: 1, windowMs: 86_400_000 };
    const { countInWindow } = redis() as unknown as Record<string, unknown>;
    Object.assign(redis(), { countInWindow: () => Promise.reject(new Error('away')) });
    try {
      expect((await consumeRateLimit(key, day)).accepted).to.equal(true);
      expect((await consumeRateLimit(key, day)).accepted).to.equal(false);
    } finally {
      Object.assign(redis(), { countInWindow });
    }
    await eventually('Redis counts again', async () => (await consumeRateLimit(key, day)).accepted);
    expect(await redis().get(`${env.QUEUE_PREFIX}:${key}`)).to.equal('1');
    await redis().set(`${env.QUEUE_PREFIX}:${key}`, 0, 'PX', 60_000);
    expect((await consumeRateLimit(key, day)).accepted, 'accepted from the cached count').to.equal(false);
  });

  it('a refund is available at once in every process and never exceeds the limit', async () => {
    const key = `test:${uniqueRef()}`;
    const limit = { max: 2, windowMs: 60_000, refunds: true } as const;
    await consumeRateLimit(key, limit);
    await consumeRateLimit(key, limit);
    expect((await consumeRateLimit(key, limit)).accepted).to.equal(false);
    await refundRateLimit(key);
    expect((await consumeRateLimit(key, limit)).accepted).to.equal(true);
    await redis().decr(`${env.QUEUE_PREFIX}:${key}`);
    expect((await consumeRateLimit(key, limit)).accepted, 'after a refund elsewhere').to.equal(true);

    await resetRateLimit(key);
    expect(await redis().exists(`${env.QUEUE_PREFIX}:${key}`)).to.equal(0);
    await refundRateLimit(key);
    expect(await consumeRateLimit(key, limit)).to.include({ accepted: true, remaining: 1 });
  });

  it('an account that raises its rate_limit can continue at once', async () => {
    const { key } = await api.newAccount('buyer', { rateLimit: 2 });
    const path = '/api/buyer/api/config';
    await api.call({ path, key, body: { rate_limit: 3 } });
    expect((await api.call({ path, key })).status).to.equal(200);
    expect((await api.call({ path, key })).status).to.equal(200);
    expectFailure(await api.call({ path, key }), { status: 429, code: '06' });
  });

  it('does not count calls from an address that is not on the allowlist', async () => {
    const { key } = await api.newAccount('buyer', { rateLimit: 1, ipWhitelist: ['203.0.113.7'] });
    const path = '/v1/wallet/balance';
    for (let n = 0; n < 3; n++) {
      expectFailure(await api.call({ path, key }), { status: 403, code: '07' });
    }
    expect((await api.call({ path, key, from: '203.0.113.7' })).status).to.equal(200);
  });
});
