import { Option, type Command } from 'commander';
import type { Refusal, JobState, SeenJob } from '../../src/doctor/jobs/seen-job.js';
import type { Thing } from '../../src/doctor/jobs/things-named.js';
import { defineCommand, defineGroup } from './define-command.js';
import { table, time } from './format.js';
import { limitOption, reasonOption } from './options.js';
import { UsageError } from './usage-error.js';

/** `topup job …`: work in the queues, and what failed so often that only a person lets it run again. */
export function registerJob(program: Command): void {
  const group = defineGroup(program, 'job', 'Jobs: find them, see what they failed with, run them again');
  registerList(group);
  registerFind(group);
  registerShow(group);
  registerRetry(group);
}

function registerList(group: Command): void {
  defineCommand<{ limit: number }>(group, {
    usage: 'list',
    action: 'queue.look',
    summary: 'List jobs that failed again and again and were set aside, newest first',
    details:
      'The logs say why, at "job failed". Mend the cause, then: topup job retry. A job of the clock goes on by itself.\nPurchases, sales and reports to which it happened are elsewhere: topup review list, topup case list, topup doctor.',
    examples: ['job list', 'job list --json'],
    options: [limitOption()],
    async run({ options }) {
      const { listFailingJobs } = await import('../../src/doctor/attention.js');
      const data = (await listFailingJobs(options.limit)).map((each) => ({
        id: each._id,
        queue: each.queue,
        rounds: each.rounds,
        first_at: each.firstAt,
        last_at: each.lastAt,
        reason: each.reason,
      }));
      const rows = data.map((each) => [
        each.id,
        each.queue,
        String(each.rounds),
        time(each.first_at),
        time(each.last_at),
        each.reason,
      ]);
      return {
        data,
        text:
          rows.length === 0
            ? 'No job fails again and again.'
            : table(['id', 'queue', 'rounds', 'first', 'last', 'why'], rows, [2]),
      };
    },
  });
}

const states: readonly JobState[] = ['waiting', 'prioritized', 'active', 'delayed', 'failed', 'completed'];

function registerFind(group: Command): void {
  defineCommand<{ queue?: string; state: JobState; kind?: string; after?: string; limit: number }>(group, {
    usage: 'find [about]',
    action: 'queue.look',
    summary: 'Find jobs by what they are about, or by queue and state',
    details:
      'About: the id or ref_id of a purchase, the id of a settlement, report or delivery, or a username: then also what is open of that account.\nJobs that are done leave their queue: what has happened to a purchase is told by topup transaction show.',
    examples: [
      'job find 01a1fdf0c1d24f51',
      'job find seller1',
      'job find --queue settlements --state delayed',
      'job find --queue polling --kind verify-sale --json',
    ],
    options: [
      new Option('--queue <name>', 'its jobs, in place of those about something'),
      new Option('--state <state>', 'of that queue').choices(states).default('failed'),
      new Option('--kind <name>', 'only those of this kind'),
      new Option('--after <place>', 'where the next page begins'),
      limitOption(),
    ],
    async run({ arg, options: { queue, state, kind, after, limit } }) {
      const about = arg('about');
      if ((about === '') === (queue === undefined)) {
        throw new UsageError(
          'Say what they are about, or name a queue: job find <id>, job find --queue <name>',
        );
      }
      if (queue !== undefined) {
        const { listJobs } = await import('../../src/doctor/jobs/list-jobs.js');
        const page = await listJobs({ queue, state, name: kind }, { after, limit });
        const more = page.next === null ? '' : `\nMore: --after ${page.next}`;
        return {
          data: { jobs: page.jobs.map(jsonOf), next: page.next },
          text: `${tableOf(page.jobs)}${more}`,
        };
      }
      const { findJobs } = await import('../../src/doctor/jobs/find-jobs.js');
      const { things, jobs } = await findJobs(about);
      const places = things.map(({ kind: what, id }) => `${what} ${id}: ${history[what](id)}`);
      return {
        data: { things: things.map(({ kind: what, id }) => ({ kind: what, id })), jobs: jobs.map(jsonOf) },
        text: [tableOf(jobs), ...places].join('\n'),
      };
    },
  });
}

function jsonOf(job: SeenJob): object {
  return {
    id: job.id,
    queue: job.queue,
    kind: job.name,
    subject: job.subject,
    state: job.state,
    payload: job.data,
    begun: job.begun,
    failed_rounds: job.failedRounds,
    failures: job.failures,
    needs_person_since: job.needsPersonSince,
    refusal: job.refusal,
    added_at: job.addedAt,
    last_run_at: job.lastRunAt,
    ended_at: job.endedAt,
    next_run_at: job.nextRunAt,
  };
}

/** Where it is told what has happened. */
const history: Record<Thing['kind'], (id: string) => string> = {
  purchase: (id) => `topup transaction show ${id}`,
  account: () => 'topup account show',
  settlement: () => 'topup settlement list',
  report: () => 'its owner asks for a new one',
  delivery: () => '/admin/webhooks',
};

function tableOf(jobs: SeenJob[]): string {
  return jobs.length === 0
    ? 'No job waits, runs or has failed within a day.'
    : table(
        ['id', 'kind', 'about', 'state', 'failed', 'last run', 'next run', 'last error'],
        jobs.map((each) => [
          each.id,
          each.name,
          each.subject ?? '',
          each.state,
          String(each.failedRounds),
          each.lastRunAt ? time(each.lastRunAt) : '',
          each.nextRunAt ? time(each.nextRunAt) : '',
          each.failures.at(-1)?.reason ?? '',
        ]),
        [4],
      );
}

function registerShow(group: Command): void {
  defineCommand(group, {
    usage: 'show <id>',
    action: 'queue.look',
    summary: 'Show a job: its payload, how often it ran, and what it failed with',
    examples: ['job show 812@settlements', 'job show pay-out:01a1fdf0 --json'],
    async run({ arg }) {
      const { findJob } = await import('../../src/doctor/jobs/find-jobs.js');
      const job = await findJob(arg('id'));
      const failures = job.failures.map(({ at, reason }) => `  ${time(at)}  ${reason}`);
      return {
        data: jsonOf(job),
        text: [
          tableOf([job]),
          `Payload: ${job.data ? JSON.stringify(job.data) : 'not shown, this release does not know it'}`,
          ...(failures.length > 0 ? ['Failed:', ...failures] : ['No failure is kept.']),
          job.refusal === null
            ? `Run it again: topup job retry ${job.id} --reason …`
            : `Not run again: ${whyNot[job.refusal]}.`,
        ].join('\n'),
      };
    },
  });
}

const whyNot: Record<Refusal, string> = {
  gone: 'there is no such job any more; topup job find and topup job list show what there is',
  running: 'it is running',
  waiting: 'it waits, and runs by itself',
  delayed: 'it waits for its time, and nothing has failed',
  done: 'it is done',
  clock: 'it runs by the clock, and comes by itself',
  client: 'its client has had an answer, and asks again',
  unreadable: 'this release cannot read it',
};

function registerRetry(group: Command): void {
  defineCommand(group, {
    usage: 'retry <ids...>',
    action: 'queue.work',
    summary: 'Let jobs that failed run again, now',
    details:
      'Each reads what is so by now: nothing is bought, paid or posted a second time. Rounds are counted from none: should one fail again and again, it comes back to the list.\nWhat cannot be retried says why, and the exit code is 1.',
    examples: [
      'job retry pay-out:01a1fdf0 --reason "bank code mended"',
      'job retry 812@settlements 813@settlements --reason "release mended"',
    ],
    options: [reasonOption()],
    async run({ args, by }) {
      const { retriedMax, retryJobs } = await import('../../src/doctor/jobs/retry-jobs.js');
      const ids = args('ids');
      if (ids.length > retriedMax) {
        throw new UsageError(`At most ${retriedMax} at once`);
      }
      const data = await retryJobs(ids, by);
      return {
        data,
        text: data
          .map(({ id, refusal }) => (refusal === null ? `${id} runs again.` : `${id}: ${whyNot[refusal]}.`))
          .join('\n'),
        failed: data.some(({ refusal }) => refusal !== null),
      };
    },
  });
}
