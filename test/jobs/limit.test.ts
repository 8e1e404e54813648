import { expect } from 'chai';
import Joi from 'joi';
import { addJob } from '../../src/jobs/add-job.js';
import { defineJob, defineQueue, handle } from '../../src/jobs/define-job.js';
import { closeQueues } from '../../src/jobs/queues.js';
import { startWorkers, type RunningWorkers } from '../../src/jobs/start-workers.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { eventually } from '../support/eventually.js';

describe('a job whose run never ends', () => {
  let workers: RunningWorkers;
  const runs: string[] = [];
  const job = defineJob<{ thingId: string }>({
    queue: defineQueue({ name: 'endless', does: 'Tests limits', concurrency: 1 }),
    name: 'do-thing',
    version: 1,
    data: Joi.object({ thingId: Joi.string() }),
    subject: ({ thingId }) => thingId,
    limitMs: 50,
  });

  before(async () => {
    await connectRedis();
    const run = ({ thingId }: { thingId: string }): Promise<void> => {
      runs.push(thingId);
      return new Promise(() => undefined);
    };
    workers = startWorkers([handle(job, run)]);
  });
  after(async () => {
    await workers.close();
    await closeQueues();
    await disconnectRedis();
  });

  it('fails at its limit, frees its slot, and allows another job of its subject', async () => {
    await addJob(job, { thingId: 'a' });
    await eventually('the first run', () => runs.length === 1);
    await eventually('another run of its subject', async () => {
      await addJob(job, { thingId: 'a' });
      return runs.length > 1;
    });
    await addJob(job, { thingId: 'b' });
    await eventually('a run of another subject', () => runs.includes('b'));
    expect(runs.filter((each) => each === 'b')).to.have.length(1);
  });
});
