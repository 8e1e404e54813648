/** A job that is postponed for a reason outside its queue. */
import { expect } from 'chai';
import Joi from 'joi';
import { setTimeout as wait } from 'node:timers/promises';
import { addJob } from '../../src/jobs/add-job.js';
import { defineJob, defineQueue, handle, DeferJobError } from '../../src/jobs/define-job.js';
import { openQueue } from '../../src/jobs/queues.js';
import { startWorkers } from '../../src/jobs/start-workers.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { useDatabase } from '../webhooks/support/database.js';

const [laterMs, eachMs] = [600, 200];

describe('a deferred job', () => {
  useDatabase();

  it('blocks no other job, and runs before waiting jobs when it is due', async () => {
    const queue = defineQueue({ name: uniqueRef('later'), does: 'nothing', concurrency: 1 });
    const job = defineJob<{ name: string }>({
      name: 'come-later',
      queue,
      version: 1,
      data: Joi.object({ name: Joi.string() }),
      subject: ({ name }) => name,
    });
    const begun: string[] = [];
    const handler = handle(job, async ({ name }) => {
      begun.push(name);
      if (name === 'first' && begun.filter((each) => each === name).length === 1) {
        throw new DeferJobError(laterMs);
      }
      await wait(eachMs);
    });
    // Add more jobs than can finish before the postponed one is due. They have the priority of
    // orders.
    const names = ['first', ...Array.from({ length: 12 }, (_, n) => `other-${n}`)];
    for (const name of names) {
      await addJob(job, { name }, { priority: 1 });
    }
    const workers = startWorkers([handler], []);
    try {
      await eventually('all jobs have run', () => begun.length === names.length + 1);
      const again = begun.lastIndexOf('first');
      expect(again, begun.join()).to.be.within(2, names.length - 2);
      expect(begun.filter((each) => each !== 'first')).to.deep.equal(names.slice(1));
    } finally {
      await workers.close();
      await openQueue(queue).obliterate({ force: true });
    }
  });
});
