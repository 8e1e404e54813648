import { expect } from 'chai';
import { env } from '../../config/env.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { processesNow, sayPresence } from '../../src/redis/presence.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';

describe('the presence of processes', () => {
  const type = uniqueRef('type');

  before(() => connectRedis());
  after(() => disconnectRedis());

  it('knows who lives, who has not been heard for 20 s, forgets the latter after 2 min, and whoever says goodbye', async () => {
    const here = sayPresence(type);
    await eventually('this process to be heard', async () => (await processesNow()).get(type)?.alive === 1);
    const [seconds] = await redis().time();
    const atMs = Number(seconds) * 1_000;
    const key = `${env.QUEUE_PREFIX}:processes`;
    await redis().zadd(key, atMs - 30_000, `${type}:still`, atMs - 130_000, `${type}:gone`);
    expect((await processesNow()).get(type)).to.deep.equal({ alive: 1, silent: 1 });
    await here.stop();
    await disconnectRedis();
    await connectRedis();
    expect((await processesNow()).get(type)).to.deep.equal({ alive: 0, silent: 1 });
    await redis().zrem(key, `${type}:still`);
  });
});
