/**
 * The number of Redis connections per process equals the number in
 * docs/guides/operate/prepare-redis.md. Small plans of managed Redis allow 20.
 */
import { apiClient, uniqueRef } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { startRedisServer, type RedisServer } from '../support/redis-servers.js';
import { startStack, type Stack } from '../support/stack.js';

describe('connections to Redis', () => {
  let redis: RedisServer;
  let stack: Stack;

  before(async () => {
    redis = await startRedisServer();
    stack = await startStack({ web: false, env: { REDIS_URL: redis.url } });
  });
  after(async () => {
    await stack.stop();
    await redis.stop();
  });

  /** The number of sellers in the demo data, all with the simulator as provider. */
  const providers = 3;

  /** Counts the connections to Redis, without the test's own. */
  const connections = async () => {
    const info = await redis.client.info('clients');
    return Number(/connected_clients:(\d+)/.exec(info)?.[1]) - 1;
  };
  const expectConnections = (count: number) =>
    eventually(`there are ${count} connections`, async () => {
      const now = await connections();
      if (now !== count) {
        throw new Error(`there are ${now}`);
      }
      return true;
    });

  it('match the documented number of each process type', async () => {
    const web = await stack.startWeb();
    await expectConnections(2);
    const buyer = apiClient(web.url, (await stack.seed())['buyer']?.api_key ?? '');
    const all = await stack.startWorker('all');
    await expectConnections(2 + 11 + providers);
    await deposit(buyer, 1_000_000);
    await buyer.post('/api/buyer/transaction', {
      code: 'S10',
      customer_number: '081234561230',
      ref_id: uniqueRef(),
    });
    await buyer.post('/api/buyer/inquiry', { code: 'PLNPOST', customer_number: '530000004321' });
    await buyer.post('/api/buyer/reports', { type: 'transaction' });
    await expectConnections(4 + 11 + providers);
    await web.stop();
    await all.stop();
    await expectConnections(0);
    for (const [kind, count] of [
      ['fulfilment', 4 + providers],
      ['follow-up', 5],
    ] as const) {
      const worker = await stack.startWorker(kind);
      await expectConnections(count);
      await worker.stop();
    }
  });
});
