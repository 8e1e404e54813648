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
  const group = defineGroup(program, 'job', 'Jobs: find them, show their errors, retry them');
  registerList(group);
  registerFind(group);
  registerShow(group);
  registerRetry(group);
}

function registerList(group: Command): void {
  defineCommand<{ limit: number }>(group, {
    usage: 'list',
    action: 'queue.look',
    summary: 'List jobs that failed repeatedly and were set aside, newest first',
    details:
      'The logs give the cause in "job failed". Fix the cause, then run topup job retry. Scheduled jobs continue by themselves.\nFor the affected purchases, sales and reports see topup review list, topup case list and topup doctor.',
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
      return { data, text: listText(data, { columns, empty: 'No job has failed repeatedly.' }) };
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
      'About: the id or ref_id of a purchase, the id of a settlement, report or delivery, or a username, which also finds the open work of the account.\nCompleted jobs leave their queue. topup transaction show prints the history of a purchase.',
    examples: [
      'job find 01a1fdf0c1d24f51',
      'job find seller1',
      'job find --queue settlements --state delayed',
      'job find --queue polling --kind verify-sale --json',
    ],
    options: [
      new Option('--queue <name>', 'list the jobs of this queue instead'),
      new Option('--state <state>', 'only this state, with --queue').choices(states).default('failed'),
      new Option('--kind <name>', 'only jobs of this kind'),
      new Option('--after <place>', 'start after this place, for the next page'),
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
          'Name what the jobs are about, or a queue: job find <id>, job find --queue <name>',
        );
      }
      return { kind: undefined, name: kind, state: queue === undefined ? undefined : state };
    },
    output(data) {
      const places =
        data.things?.map(({ kind, id }) => `\n${kind} ${id}: ${historyCommands[kind](id)}`) ?? [];
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
const historyCommands: Record<JobDocument['kind'], (id: string) => string> = {
  purchase: (id) => `topup transaction show ${id}`,
  account: () => 'topup account show',
  settlement: () => 'topup settlement list',
  report: () => 'its owner can request a new one',
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
    empty: 'No job is waiting or running, or has failed within a day.',
    next,
  });
}

function registerShow(group: Command): void {
  defineOperationCommand(group, {
    usage: 'show <id>',
    action: 'queue.look',
    summary: 'Show a job: its payload, the number of its runs, and its errors',
    examples: ['job show 812@settlements', 'job show pay-out:01a1fdf0 --json'],
    operation: async () => (await import('../../src/console/system/jobs.js')).getJob,
    output(data) {
      const { job, payload, failures } = data;
      return {
        data,
        text: [
          tableOf([job]),
          `Payload: ${payload ?? 'not shown, because this release cannot read it'}`,
          ...(failures.length > 0 ? ['Failed:'] : ['No failure is stored.']),
          ...failures.map(({ at, reason }) => `  ${time(at)}  ${reason}`),
          job.refusal === null
            ? `To retry it: topup job retry ${job.id} --reason …`
            : `It cannot be retried: ${refusalDescriptions[job.refusal]}.`,
        ].join('\n'),
      };
    },
  });
}

const refusalDescriptions: Record<Refusal, string> = {
  gone: 'it no longer exists; topup job find and topup job list show existing jobs',
  running: 'it is running',
  waiting: 'it is waiting and runs by itself',
  delayed: 'it is scheduled for later and has not failed',
  done: 'it is completed',
  clock: 'it is a scheduled job and runs again by itself',
  client: 'its client already got a response and repeats the call',
  unreadable: 'this release cannot read it',
};

function registerRetry(group: Command): void {
  defineOperationCommand(group, {
    usage: 'retry <ids...>',
    action: 'queue.work',
    summary: 'Retry failed jobs now',
    details:
      'Each job reads the current state, so nothing is bought, paid or posted twice. Its failures are counted from zero: if it fails repeatedly again, it returns to the list.\nFor a job that cannot be retried the reason is printed, and the exit code is 1.',
    examples: [
      'job retry pay-out:01a1fdf0 --reason "bank code fixed"',
      'job retry 812@settlements 813@settlements --reason "fixed release"',
    ],
    options: [reasonOption()],
    operation: async () => (await import('../../src/console/system/jobs.js')).retryJobsCall,
    output: ({ jobs }) => ({
      data: jobs,
      text: jobs
        .map(({ id, refusal }) =>
          refusal === null ? `${id} runs again.` : `${id}: ${refusalDescriptions[refusal]}.`,
        )
        .join('\n'),
      failed: jobs.some(({ refusal }) => refusal !== null),
    }),
  });
}
