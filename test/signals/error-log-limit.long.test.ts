/** Each error code of Redis and BullMQ is logged at most once a minute. */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import { startStack, type Stack } from '../support/stack.js';

interface Line {
  level: string;
  message: string;
  code?: string;
  moreOfThem?: number;
}

describe('errors of Redis and BullMQ', function () {
  this.timeout(120_000);
  let redis: PrivateRedis;
  let stack: Stack;

  before(async () => {
    redis = await startPrivateRedis();
    stack = await startStack({ web: false, env: { REDIS_URL: redis.url, LOG_LEVEL: 'info' } });
  });
  after(async () => {
    await stack.stop();
    await redis.stop();
  });

  it('are logged once a minute and code for each operation, and never swallowed', async () => {
    const startedMs = performance.now();
    const worker = await stack.startWorker('all');
    const client = new Redis(redis.url);
    const refusals = async () =>
      Number(/errorstat_OOM:count=(\d+)/.exec(await client.info('errorstats'))?.[1] ?? 0);
    const lines = () =>
      worker
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Line)
        .filter(({ code }) => code === 'OOM');
    try {
      await client.config('SET', 'maxmemory', '1');
      await eventually('many commands are refused', async () => (await refusals()) >= 60, 40_000);
      const logged = await eventually('a line of BullMQ and others', () => {
        const found = lines();
        return found.length > 1 && found.some(({ message }) => message === 'redis error of a worker')
          ? found
          : null;
      });
      expect(performance.now() - startedMs).to.be.lessThan(60_000);
      const messages = logged.map(({ message }) => message);
      expect(messages).to.deep.equal([...new Set(messages)]);
      expect(logged.every(({ level }) => level === 'error')).to.equal(true);
      expect(logged.length).to.be.at.most(15);
    } finally {
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
    }
  });
});
