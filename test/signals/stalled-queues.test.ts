import { expect } from 'chai';
import { defineQueue, type Queue } from '../../src/jobs/define-job.js';
import { closeQueues, openQueue } from '../../src/jobs/queues.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { watchStalledQueues } from '../../src/signals/stalled-queues.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';

describe('a worker that takes no job while some wait', () => {
  const queue = defineQueue({ name: uniqueRef('idle'), does: 'nothing', concurrency: 1 });
  const taken = new Map<Queue, number>([[queue, 0]]);
  let watch: ReturnType<typeof watchStalledQueues>;
  /** A second watcher. Its limit is longer than this test. */
  let patient: typeof watch;

  before(async () => {
    await connectRedis();
    watch = watchStalledQueues(taken, { everyMs: 10, maxMs: 100 });
    patient = watchStalledQueues(taken, { everyMs: 10, maxMs: 3_600_000 });
  });
  after(async () => {
    await Promise.all([watch.stop(), patient.stop()]);
    await openQueue(queue).obliterate({ force: true });
    await closeQueues();
    await disconnectRedis();
  });

  it('is detected until it takes one, and not while the queue is paused or empty', async () => {
    const isIdle = () => watch.idle().length === 1;
    expect(isIdle()).to.equal(false);
    await openQueue(queue).add('a', {});
    await eventually('the worker is idle', isIdle);
    expect(patient.idle()).to.deep.equal([]);
    taken.set(queue, 1);
    expect(isIdle()).to.equal(false);
    await eventually('it is idle again while another job waits', isIdle);
    await openQueue(queue).pause();
    await eventually('a paused queue is not idle', () => !isIdle());
    await openQueue(queue).resume();
    await eventually('it is idle again', isIdle);
    await openQueue(queue).drain();
    await eventually('an empty queue is not idle', () => !isIdle());
  });
});
