import Joi from 'joi';
import { timestamp, nameSchema } from '../../api/contract/fields.js';
import { describeProcesses } from '../../redis/presence.js';
import { DependencyError } from '../../shared/errors.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { inspectQueue } from '../../jobs/inspect-queue.js';
import { findCurrentJobs, findCurrentQueues } from '../../processes.js';
import { memoizeFor } from '../../shared/memoize.js';

export const listProcesses = defineConsoleOperation({
  id: 'listProcesses',
  method: 'get',
  path: '/system/processes',
  action: 'system.look',
  summary: 'Every running or stalled process: what it does, its release and its start',
  data: requiredObject({
    processes: Joi.array().items(
      requiredObject({
        id: Joi.string(),
        type: Joi.string(),
        version: Joi.string().allow(null).description('Null: its release does not report it.'),
        started_at: timestamp.allow(null),
        memory_bytes: Joi.number().allow(null),
        last_heard_at: timestamp,
        is_silent: Joi.boolean().description(
          'True: it keeps its connections but sends no heartbeat, so it is stalled.',
        ),
      }),
    ),
    releases: Joi.array()
      .items(Joi.string().allow(null))
      .description('More than one: a rollout is in progress or stuck.'),
  }),
  async handle() {
    const found = await describeProcesses().catch((error: unknown) => {
      throw new DependencyError(error);
    });
    if (!found) {
      throw new DependencyError(new Error('Redis accepts no writes, so the running processes are unknown'));
    }
    return {
      processes: found.map((each) => ({
        id: each.id,
        type: each.type,
        version: each.version,
        is_silent: each.isSilent,
        started_at: each.startedAt?.toISOString() ?? null,
        memory_bytes: each.memoryBytes,
        last_heard_at: each.lastHeardAt.toISOString(),
      })),
      releases: [...new Set(found.filter(({ isSilent }) => !isSilent).map(({ version }) => version))],
    };
  },
});

const count = Joi.number();

/** Results are cached for this long, in milliseconds, for all open pages. */
const cachedMs = 2_000;

const readQueues = memoizeFor(cachedMs, async () => {
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
  summary: 'Every queue with its kinds of jobs, and the number of jobs in each state',
  data: requiredObject({
    queues: Joi.array().items(
      nameSchema(
        'Queue',
        requiredObject({
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
