import { expect } from 'chai';
import { env } from '../../config/env.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { connectionNameOf } from '../../src/redis/process-id.js';
import { processesNow, sayPresence } from '../../src/redis/presence.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';

describe('the presence of processes', () => {
  const type = uniqueRef('type');

  before(() => connectRedis());
  after(() => disconnectRedis());

  it('knows who lives, who has not been heard for 20 s and still has its connection, and forgets who was killed or says goodbye', async () => {
    const here = sayPresence(type);
    await eventually('this process to be heard', async () => (await processesNow()).get(type)?.alive === 1);
    const [seconds] = await redis().time();
    const atMs = Number(seconds) * 1_000;
    const key = `${env.QUEUE_PREFIX}:processes`;
    const still = redis().duplicate({ connectionName: connectionNameOf('still') });
    await eventually('its connection', async () =>
      String(await redis().client('LIST')).includes(':process:still'),
    );
    // However long it stands still.
    await redis().zadd(key, atMs - 300_000, `${type}:still`, atMs - 30_000, `${type}:killed`);
    expect((await processesNow()).get(type)).to.deep.equal({ alive: 1, silent: 1 });
    await here.stop();
    await disconnectRedis();
    await connectRedis();
    expect((await processesNow()).get(type)).to.deep.equal({ alive: 0, silent: 1 });
    still.disconnect();
    await eventually(
      'it to be forgotten when it is killed too',
      async () => !(await processesNow()).has(type),
    );
    await redis().zrem(key, `${type}:still`, `${type}:killed`);
  });
});
