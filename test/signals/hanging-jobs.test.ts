import { Worker } from 'bullmq';
import { expect } from 'chai';
import { env } from '../../config/env.js';
import { getHangingMs } from '../../src/doctor/diagnose-work.js';
import { defineQueue } from '../../src/jobs/define-job.js';
import { inspectQueue } from '../../src/jobs/inspect-queue.js';
import { closeQueues, openQueue, getQueuePrefix } from '../../src/jobs/queues.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';
import { findLastRecoveryMs, announcePresence } from '../../src/redis/presence.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';

const agoMs = 100_000;

describe('a job that has used most of its time', () => {
  const queue = defineQueue({ name: uniqueRef('hangs'), does: 'nothing', concurrency: 1 });
  let end: () => void = () => undefined;
  let worker: Worker;
  before(async () => {
    await connectRedis();
    worker = new Worker(queue.name, () => new Promise<void>((resolve) => (end = resolve)), {
      connection: redis().duplicate({ maxRetriesPerRequest: null }),
      prefix: getQueuePrefix(queue),
    });
  });
  after(async () => {
    end();
    await worker.close();
    await openQueue(queue).obliterate({ force: true });
    await closeQueues();
    await disconnectRedis();
  });

  it('counts as hanging, unless Redis stalled for that time', async () => {
    const job = await openQueue(queue).add('a', {});
    await eventually('the job is active', async () => (await inspectQueue(queue)).active !== null);
    await redis().hset(openQueue(queue).toKey(job.id ?? ''), 'processedOn', Date.now() - agoMs);
    const hangingMs = async () => getHangingMs(await inspectQueue(queue));
    expect(await hangingMs()).to.be.at.least(agoMs);
    // Create the state after a stall of all processes: the last heartbeat was sent before the
    // stall.
    const key = `${env.QUEUE_PREFIX}:processes`;
    const member = `${uniqueRef('type')}:before`;
    await redis().zadd(key, Date.now() - agoMs, member);
    expect(await hangingMs(), 'before any new heartbeat').to.equal(0);
    const presence = announcePresence(uniqueRef('type'));
    await eventually('a new heartbeat', async () => (await redis().zcard(key)) === 2);
    expect(await findLastRecoveryMs()).to.be.closeTo(Date.now(), 10_000);
    expect(await hangingMs(), 'after the new heartbeat').to.equal(0);
    await presence.stop();
    await redis().zrem(key, member);
  });
});
