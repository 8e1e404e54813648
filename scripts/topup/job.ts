import { Option, type Command } from 'commander';
import type { AnyConsoleOperation } from '../../src/console/api/console-operation.js';
import type { Refusal, JobState } from '../../src/doctor/jobs/describe-job.js';
import type { JobDocument } from '../../src/doctor/jobs/job-subjects.js';
import { defineCommand, defineGroup } from './define-command.js';
import { defineOperationCommand } from './operation-command.js';
import { listText, time, type Column } from './format.js';
import { limitOption, reasonOption } from './options.js';
import { UsageError } from './usage-error.js';

/** `topup job …`: queued jobs, and dead letters that only an operator can retry. */
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
      const columns: Column<(typeof data)[number]>[] = [
        'id',
        'queue',
        'rounds',
        'first_at',
        'last_at',
        ['why', (each) => each.reason],
      ];
      return { data, text: listText(data, { columns, empty: 'No job fails again and again.' }) };
    },
  });
}

const states: readonly JobState[] = ['waiting', 'prioritized', 'active', 'delayed', 'failed', 'completed'];

function registerFind(group: Command): void {
  defineOperationCommand<{ queue?: string; state: JobState; kind?: string }, FoundJobs>(group, {
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
    async operation({ options: { queue } }): Promise<AnyConsoleOperation<FoundJobs>> {
      return queue === undefined
        ? (await import('../../src/console/system/jobs.js')).findJobsCall
        : (await import('../../src/console/system/jobs.js')).listJobsCall;
    },
    input({ fields, options: { queue, state, kind } }) {
      if ((fields['about'] === undefined) === (queue === undefined)) {
        throw new UsageError(
          'Say what they are about, or name a queue: job find <id>, job find --queue <name>',
        );
      }
      return { kind: undefined, name: kind, state: queue === undefined ? undefined : state };
    },
    output(data) {
      const places = data.things?.map(({ kind, id }) => `\n${kind} ${id}: ${history[kind](id)}`) ?? [];
      return { data, text: `${tableOf(data.jobs, data.next)}${places.join('')}` };
    },
  });
}

interface FoundJobs {
  jobs: ShownJob[];
  next?: string | null;
  things?: Pick<JobDocument, 'kind' | 'id'>[];
}

interface ShownJob {
  id: string;
  name: string;
  subject: string | null;
  state: string;
  failed_rounds: number;
  last_run_at: string | null;
  next_run_at: string | null;
  last_error: string | null;
  refusal: Refusal | null;
}

/** Commands and pages that show the history of each kind. */
const history: Record<JobDocument['kind'], (id: string) => string> = {
  purchase: (id) => `topup transaction show ${id}`,
  account: () => 'topup account show',
  settlement: () => 'topup settlement list',
  report: () => 'its owner asks for a new one',
  delivery: () => '/admin/webhooks',
};

function tableOf(jobs: ShownJob[], next: string | null = null): string {
  return listText(jobs, {
    columns: [
      'id',
      ['kind', (each) => each.name],
      ['about', (each) => each.subject],
      'state',
      ['failed', (each) => String(each.failed_rounds)],
      'last_run_at',
      'next_run_at',
      'last_error',
    ],
    empty: 'No job waits, runs or has failed within a day.',
    next,
  });
}

function registerShow(group: Command): void {
  defineOperationCommand(group, {
    usage: 'show <id>',
    action: 'queue.look',
    summary: 'Show a job: its payload, how often it ran, and what it failed with',
    examples: ['job show 812@settlements', 'job show pay-out:01a1fdf0 --json'],
    operation: async () => (await import('../../src/console/system/jobs.js')).getJob,
    output(data) {
      const { job, payload, failures } = data;
      return {
        data,
        text: [
          tableOf([job]),
          `Payload: ${payload ?? 'not shown, this release does not know it'}`,
          ...(failures.length > 0 ? ['Failed:'] : ['No failure is kept.']),
          ...failures.map(({ at, reason }) => `  ${time(at)}  ${reason}`),
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
  defineOperationCommand(group, {
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
    operation: async () => (await import('../../src/console/system/jobs.js')).retryJobsCall,
    output: ({ jobs }) => ({
      data: jobs,
      text: jobs
        .map(({ id, refusal }) => (refusal === null ? `${id} runs again.` : `${id}: ${whyNot[refusal]}.`))
        .join('\n'),
      failed: jobs.some(({ refusal }) => refusal !== null),
    }),
  });
}
