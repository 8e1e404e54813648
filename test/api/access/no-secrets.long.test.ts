import { expect } from 'chai';
import { Redis } from 'ioredis';
import { generateApiKey } from '../../../src/accounts/api-key.js';
import { apiClient, uniqueRef } from '../../support/api-client.js';
import { deposit } from '../../support/deposit.js';
import { eventually } from '../../support/eventually.js';
import { startStack, type Stack } from '../../support/stack.js';
import { hmacSign, md5Sign, pathOf, requestPath } from '../support/reseller.js';

const encryptionKey = Buffer.alloc(32, 7).toString('base64');
const sessionSecret = 'a-session-secret-that-must-never-be-printed';

describe('secrets', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      web: false,
      env: { LOG_LEVEL: 'debug', ENCRYPTION_KEY: encryptionKey, SESSION_SECRET: sessionSecret },
    });
  });
  after(() => stack.stop());

  it('no secret is in a log, in Redis or in an audit entry after calls of every kind', async () => {
    const [web, worker] = [await stack.startWeb(), await stack.startWorker('all')];
    const accounts = await stack.seed();
    const buyer = { username: 'buyer', key: accounts['buyer']?.api_key ?? '' };
    const client = apiClient(web.url, buyer.key);
    const secrets = new Map<string, string>(
      Object.values(accounts).flatMap((each) =>
        [
          [`key of ${each.username}`, each.api_key],
          [`webhook secret of ${each.username}`, each.webhook_secret],
          [`password of ${each.username}`, each.password],
        ].filter((named): named is [string, string] => typeof named[1] === 'string'),
      ),
    );
    secrets.set('ENCRYPTION_KEY', encryptionKey).set('SESSION_SECRET', sessionSecret);
    secrets.set("the provider's secret", stack.simulator.secret);

    await deposit(client, 1_000_000);
    const login = await client.post('/v1/auth/login');
    secrets.set('access token', login.body.data.access_token as string);
    await apiClient(web.url, login.body.data.access_token as string).get('/v1/products');
    const purchase = { code: 'S10', customer: '081234561230', ref_id: uniqueRef() };
    secrets.set('HMAC sign', hmacSign(buyer, `S10|081234561230|${purchase.ref_id}`));
    secrets.set('md5 sign', md5Sign(buyer, 'depo'));
    await client.get(requestPath(buyer, purchase));
    await client.get(pathOf('balance', { username: 'buyer', sign: md5Sign(buyer, 'depo') }));
    await client.get(`${pathOf('balance', { username: 'buyer', sign: md5Sign(buyer, 'depo') })}&sign=again`);
    const bought = await client.post('/api/buyer/transaction', {
      code: 'S10',
      customer_number: '081234561232',
      ref_id: uniqueRef(),
    });
    // Failed calls write more log lines than successful ones.
    const unknown = generateApiKey('buyer', 'test');
    secrets.set('unknown key', unknown);
    await apiClient(web.url, unknown).post('/api/buyer/balance');
    await client.post('/api/buyer/transaction', { code: buyer.key, customer_number: {}, ref_id: buyer.key });
    await client.get(`/v1/transactions/${buyer.key}`);
    await client.post('/api/buyer/api/config', {
      webhook_url: `${stack.inbox.url}/hooks/other`,
      rate_limit: 999,
    });
    const rotated = await client.post('/api/buyer/api/webhook-secret/rotate');
    secrets.set('new webhook secret', rotated.body.data.webhook_secret as string);
    const renewed = await client.post('/api/buyer/api/keys/rotate', { overlap_minutes: 5 });
    secrets.set('new key', renewed.body.data.api_key as string);
    await eventually('the purchase fails', async () => {
      const { body } = await client.get(`/v1/transactions/${String(bought.body.data.transaction_id)}`);
      return body.data.status === 'FAILED';
    });
    await stack.inbox.waitFor((message) => message.raw.includes('transaction.failed'));

    const audit = JSON.stringify(await stack.db.collection('audit').find().toArray());
    const places = { log: web.output() + worker.output(), redis: await dumpRedis(), audit };
    expect(places.log, 'logged purchase').to.include(String(bought.body.data.transaction_id));
    expect(places.redis, 'stored jobs').to.include(String(bought.body.data.transaction_id));
    expect(places.audit, 'logged changes').to.include('config.update').and.include('api-key.rotate');
    for (const [place, text] of Object.entries(places)) {
      for (const [name, secret] of secrets) {
        expect(secret, name).to.have.length.above(10);
        expect(text.includes(secret), `${name} in ${place}`).to.equal(false);
      }
    }
  });

  /** Returns everything under this stack's prefix in Redis, as JSON. */
  async function dumpRedis(): Promise<string> {
    const redis = new Redis(process.env['REDIS_URL'] ?? '');
    const found: unknown[] = [];
    for await (const keys of redis.scanStream({
      match: `${String(stack.env['QUEUE_PREFIX'])}:*`,
      count: 1_000,
    })) {
      for (const key of keys as string[]) {
        found.push(key, await read(redis, key));
      }
    }
    redis.disconnect();
    return JSON.stringify(found);
  }

  async function read(redis: Redis, key: string): Promise<unknown> {
    switch (await redis.type(key)) {
      case 'string':
        return redis.get(key);
      case 'hash':
        return redis.hgetall(key);
      case 'list':
        return redis.lrange(key, '0', '-1');
      case 'set':
        return redis.smembers(key);
      case 'zset':
        return redis.zrange(key, '0', '-1');
      case 'stream':
        return redis.xrange(key, '-', '+');
      default:
        return null;
    }
  }
});
