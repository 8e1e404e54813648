import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { usernamesOf } from '../../accounts/usernames-of.js';
import { jobStates, refusals, type SeenJob } from '../../doctor/jobs/seen-job.js';
import { lookUp } from '../../shared/look-up.js';
import { shape } from '../api/console-operation.js';

const at = timestamp.allow(null);

export const refusal = Joi.string()
  .valid(...refusals)
  .allow(null)
  .description('Why it is not retried; null: it is.');

export const jobData = shape({
  id: Joi.string(),
  queue: Joi.string(),
  name: Joi.string().description('Its kind.'),
  subject: Joi.string().allow(null).description('What it is about; null: its payload cannot be read.'),
  purchase: Joi.string().allow(null),
  account: Joi.string().allow(null).description('Username of whom it belongs to.'),
  state: Joi.string()
    .valid(...jobStates, 'lost')
    .description('`lost`: it failed again and again, and stands in Redis no more.'),
  begun: Joi.number().description('Rounds that were begun with this job.'),
  failed_rounds: Joi.number().description('Of its subject, in a row.'),
  needs_person_since: at,
  last_error: Joi.string().allow(null),
  added_at: at,
  last_run_at: at,
  ended_at: at,
  next_run_at: at,
  refusal,
});

/** Those of one page, with the usernames of all of them by one question. */
export async function presentJobs(jobs: SeenJob[]) {
  const usernames = await usernamesOf(jobs.flatMap((job) => idIn(job, 'accountId') ?? []));
  return jobs.map((job) => present(job, usernames));
}

export async function presentJob(job: SeenJob) {
  const accountId = idIn(job, 'accountId');
  return present(job, await usernamesOf(accountId === null ? [] : [accountId]));
}

function present(job: SeenJob, usernames: Record<string, string>) {
  return {
    id: job.id,
    queue: job.queue,
    name: job.name,
    subject: job.subject,
    state: job.state,
    purchase: idIn(job, 'purchaseId'),
    account: lookUp(usernames, idIn(job, 'accountId') ?? '') ?? null,
    begun: job.begun,
    failed_rounds: job.failedRounds,
    refusal: job.refusal,
    needs_person_since: timeOf(job.needsPersonSince),
    last_error: job.failures.at(-1)?.reason ?? null,
    added_at: timeOf(job.addedAt),
    last_run_at: timeOf(job.lastRunAt),
    ended_at: timeOf(job.endedAt),
    next_run_at: timeOf(job.nextRunAt),
  };
}

function idIn({ data }: SeenJob, name: string): string | null {
  const id = data?.[name];
  return typeof id === 'string' ? id : null;
}

function timeOf(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}
