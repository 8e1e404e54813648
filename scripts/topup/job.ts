import type { Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { table, time } from './format.js';
import { limitOption, reasonOption } from './options.js';

/** `topup job …`: work that failed so often that only a person lets it run again. */
export function registerJob(program: Command): void {
  const group = defineGroup(program, 'job', 'Jobs that fail again and again');
  registerList(group);
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

function registerRetry(group: Command): void {
  defineCommand(group, {
    usage: 'retry <id>',
    action: 'queue.work',
    summary: 'Let a job that was set aside run again, now',
    details: 'Its rounds are counted from none: should it fail again and again, it comes back to the list.',
    examples: ['job retry pay-out:01a1fdf0 --reason "bank code mended"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { retryFailingJob } = await import('../../src/doctor/retry-failing-job.js');
      const { _id, queue } = await retryFailingJob(arg('id'), by);
      return { data: { id: _id, queue }, text: `${_id} runs again.` };
    },
  });
}
