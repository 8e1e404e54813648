/** Keys and jobs as they are after Redis's clock was set back by an hour: due an hour later. */
import { expect } from 'chai';
import { env } from '../../config/env.js';
import { defineQueue } from '../../src/jobs/define-job.js';
import { closeQueues, openQueue } from '../../src/jobs/queues.js';
import { repairQueue } from '../../src/jobs/repair-queue.js';
import { storePause, pauseLeftLua, getPauseKey } from '../../src/providers/pause.js';
import { boundedPttlLua } from '../../src/redis/bounded-times.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { withLease } from '../../src/redis/lease.js';
import { consumeRateLimit } from '../../src/redis/rate-limit.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';

const hourMs = 3_600_000;

describe("after Redis's clock was set back by an hour", () => {
  before(async () => {
    redis();
    await connectRedis();
  });
  after(async () => {
    await closeQueues();
    await disconnectRedis();
  });

  it('a rate limit lasts no longer than its window', async () => {
    const key = newId();
    const limit = { max: 10, windowMs: 60_000 };
    await consumeRateLimit(key, limit);
    await redis().pexpire(`${env.QUEUE_PREFIX}:${key}`, hourMs);
    expect((await consumeRateLimit(key, limit)).resetMs).to.be.within(1, 60_000);
    expect(await redis().pttl(`${env.QUEUE_PREFIX}:${key}`)).to.be.within(1, 60_000);
  });

  it('the lease of a dead holder ends in time', async () => {
    const name = newId();
    await redis().set(`${env.QUEUE_PREFIX}:{lease}:${name}`, 'dead', 'PX', hourMs);
    await eventually('the lease is taken', () => withLease(name, 200, () => Promise.resolve('done')), 2_000);
  });

  it('a pause of a provider lasts no longer than requested', async () => {
    const seller = newId();
    await storePause(seller, 60_000);
    await redis().pexpire(getPauseKey(seller), hourMs);
    const leftMs = await redis().eval(
      `${boundedPttlLua}${pauseLeftLua} return pauseLeft(KEYS[1])`,
      1,
      getPauseKey(seller),
    );
    expect(leftMs).to.be.within(59_000, 60_000);
  });

  it('jobs of dead workers are found, and delayed jobs are promoted', async () => {
    const queue = defineQueue({ name: `set-back-${newId()}`, does: 'Jobs of this test', concurrency: 1 });
    const opened = openQueue(queue);
    const [checkKey, limiterKey, lockKey] = ['stalled-check', 'limiter', '7:lock'].map((each) =>
      opened.toKey(each),
    ) as [string, string, string];
    for (const key of [checkKey, limiterKey, lockKey]) {
      await redis().set(key, '1', 'PX', hourMs);
    }
    await redis().lpush(opened.toKey('active'), '7');
    const late = await opened.add('late', {}, { delay: 20_000, timestamp: Date.now() + hourMs });
    const due = await opened.add('due', {}, { delay: 20_000 });
    await repairQueue(queue);
    expect(await redis().pttl(checkKey)).to.be.within(1, 3_000);
    expect(await redis().pttl(limiterKey)).to.be.within(1, 5_000);
    expect(await redis().pttl(lockKey)).to.be.within(1, 10_000);
    expect(await late.getState()).to.equal('waiting');
    expect(await due.getState()).to.equal('delayed');
    await opened.obliterate({ force: true });
  });
});
