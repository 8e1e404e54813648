import Joi from 'joi';
import { inspectQueue } from '../../jobs/look-at-queue.js';
import { findCurrentJobs, findCurrentQueues } from '../../processes.js';
import { DependencyError } from '../../shared/errors.js';
import { memoizeFor } from '../../shared/remembered-for.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';

const count = Joi.number();

/** However many pages are open. */
const rememberedMs = 2_000;

const readQueues = memoizeFor(rememberedMs, async () => {
  const [queues, jobs] = await Promise.all([findCurrentQueues(), findCurrentJobs()]);
  return Promise.all(
    queues.map(async ({ queue, process }) => {
      const { counts, isPaused, workers } = await inspectQueue(queue);
      const ofIt = jobs.filter((job) => job.queue.name === queue.name);
      return {
        name: queue.name,
        title: queue.title ?? queue.name,
        does: queue.does,
        process: process.name,
        kinds: [...new Set(ofIt.map(({ name }) => name))].sort(),
        waiting: counts['wait'] ?? 0,
        prioritized: counts['prioritized'] ?? 0,
        active: counts['active'] ?? 0,
        delayed: counts['delayed'] ?? 0,
        failed: counts['failed'] ?? 0,
        completed: counts['completed'] ?? 0,
        is_paused: isPaused,
        workers,
      };
    }),
  );
});

export const listQueues = defineConsoleOperation({
  id: 'listQueues',
  method: 'get',
  path: '/system/queues',
  action: 'queue.look',
  summary: 'Every queue with its kinds of jobs, and how many there are in each state',
  data: shape({
    queues: Joi.array().items(
      shape({
        name: Joi.string(),
        title: Joi.string(),
        does: Joi.string(),
        process: Joi.string(),
        kinds: Joi.array().items(Joi.string()),
        waiting: count,
        prioritized: count,
        active: count,
        delayed: count,
        failed: count.description('The last 1,000 are kept.'),
        completed: count.description('The last 1,000 are kept.'),
        is_paused: Joi.boolean(),
        workers: count,
      }),
    ),
  }),
  async handle() {
    try {
      return { queues: await readQueues() };
    } catch (error) {
      throw new DependencyError(error);
    }
  },
});
