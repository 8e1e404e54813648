import { expect } from 'chai';
import Joi from 'joi';
import { defineJob, defineQueue, handle, type Handler } from '../../src/jobs/define-job.js';
import { closeQueues, openQueue } from '../../src/jobs/queues.js';
import { addJob } from '../../src/jobs/add-job.js';
import { startWorkers, type RunningWorkers } from '../../src/jobs/start-workers.js';
import { disconnectMongo } from '../../src/database/mongo.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { connectMongoWhenReady } from '../support/connect-mongo.js';

describe('a hanging job', () => {
  const own = defineQueue({ name: uniqueRef('hanging'), does: 'nothing', concurrency: 1 });
  const ofFamily = defineQueue({ name: uniqueRef('hanging-family'), does: 'nothing', concurrency: 1 });
  const ends: (() => void)[] = [];
  let workers: RunningWorkers;

  const jobIn = (queue: typeof own) =>
    defineJob<{ accountId: string }>({
      name: `hang-in-${queue.name}`,
      queue,
      version: 1,
      limitMs: 2_000,
      mayBeLost: true,
      data: Joi.object({ accountId: Joi.string() }),
      subject: ({ accountId }) => accountId,
    });
  const handlerOf = (job: ReturnType<typeof jobIn>): Handler =>
    handle(job, () => new Promise<void>((resolve) => ends.push(resolve)));
  const jobs = [jobIn(own), jobIn(ofFamily)] as const;

  before(async () => {
    await Promise.all([connectRedis(), connectMongoWhenReady()]);
    const [first, second] = jobs.map(handlerOf) as [Handler, Handler];
    workers = startWorkers([first], [{ name: 'a family', handlersNow: () => Promise.resolve([second]) }]);
    await workers.ready;
  });
  after(async () => {
    ends.forEach((end) => {
      end();
    });
    await workers.close();
    await Promise.all([own, ofFamily].map((queue) => openQueue(queue).obliterate({ force: true })));
    await closeQueues();
    await Promise.all([disconnectRedis(), disconnectMongo()]);
  });

  for (const job of jobs) {
    it(`is reported for ${job === jobs[0] ? 'a queue' : 'a queue of a family such as providers'}, until it ends`, async () => {
      await addJob(job, { accountId: 'a' });
      await eventually('the job runs', () => ends.length > 0);
      expect(workers.hanging()).to.deep.equal([]);
      await eventually('the job hangs', () => workers.hanging().includes(job.queue));
      ends.splice(0).forEach((end) => {
        end();
      });
      await eventually('no job hangs', () => workers.hanging().length === 0);
    });
  }
});
