import Joi from 'joi';
import { timestamp, text, wholeNumber, nameSchema } from '../../api/contract/fields.js';
import { findUsernames } from '../../accounts/find-account.js';
import { jobStates, refusals, type JobDescription, type JobState } from '../../doctor/jobs/describe-job.js';
import { lookUp } from '../../shared/collections.js';
import {
  requiredObject,
  defineConsoleOperation,
  idParams,
  reason,
  type Reason,
} from '../api/console-operation.js';
import { listJobs } from '../../doctor/jobs/list-jobs.js';
import { findJobs, findJob } from '../../doctor/jobs/find-jobs.js';
import { retriedMax, retryJobs } from '../../doctor/jobs/retry-jobs.js';

const at = timestamp.allow(null);

export const refusal = Joi.string()
  .valid(...refusals)
  .allow(null)
  .description('Why it cannot be retried; null: it can.');

export const jobData = nameSchema(
  'QueueJob',
  requiredObject({
    id: Joi.string(),
    queue: Joi.string(),
    name: Joi.string().description('Its kind.'),
    subject: Joi.string().allow(null).description('What it is about; null: its payload cannot be read.'),
    purchase: Joi.string().allow(null),
    account: Joi.string().allow(null).description('Username of its account.'),
    state: Joi.string()
      .valid(...jobStates, 'lost')
      .description('`lost`: it failed repeatedly and is no longer in Redis.'),
    begun: Joi.number().description('Rounds that were started with this job.'),
    failed_rounds: Joi.number().description('Consecutive failed rounds of its subject.'),
    needs_person_since: at,
    last_error: Joi.string().allow(null),
    added_at: at,
    last_run_at: at,
    ended_at: at,
    next_run_at: at,
    refusal,
  }),
);

/** Presents the jobs of one page. All usernames are read with one query. */
export async function presentJobs(jobs: JobDescription[]) {
  const usernames = await findUsernames(jobs.flatMap((job) => findId(job, 'accountId') ?? []));
  return jobs.map((job) => present(job, usernames));
}

export async function presentJob(job: JobDescription) {
  const accountId = findId(job, 'accountId');
  return present(job, await findUsernames(accountId === null ? [] : [accountId]));
}

function present(job: JobDescription, usernames: Record<string, string>) {
  return {
    id: job.id,
    queue: job.queue,
    name: job.name,
    subject: job.subject,
    state: job.state,
    purchase: findId(job, 'purchaseId'),
    account: lookUp(usernames, findId(job, 'accountId') ?? '') ?? null,
    begun: job.begun,
    failed_rounds: job.failedRounds,
    refusal: job.refusal,
    needs_person_since: toIsoOrNull(job.needsPersonSince),
    last_error: job.failures.at(-1)?.reason ?? null,
    added_at: toIsoOrNull(job.addedAt),
    last_run_at: toIsoOrNull(job.lastRunAt),
    ended_at: toIsoOrNull(job.endedAt),
    next_run_at: toIsoOrNull(job.nextRunAt),
  };
}

function findId({ data }: JobDescription, name: string): string | null {
  const id = data?.[name];
  return typeof id === 'string' ? id : null;
}

function toIsoOrNull(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}

interface Query {
  queue: string;
  state: JobState;
  name?: string;
  after?: string;
  limit: number;
}

export const listJobsCall = defineConsoleOperation({
  id: 'listJobs',
  method: 'get',
  path: '/jobs',
  action: 'queue.look',
  summary: 'Jobs of a queue in a state, a page at a time: the next to run or the last to end first',
  query: Joi.object<Query>({
    queue: text(100).required(),
    state: Joi.string()
      .valid(...jobStates)
      .default('failed'),
    name: text(64),
    after: text(150),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: requiredObject({
    jobs: Joi.array().items(jobData),
    next: Joi.string()
      .allow(null)
      .description(
        'Value of `after` for the next page. With `name`, a page may be short without being the last.',
      ),
  }),
  async handle({ query: { queue, state, name, after, limit } }) {
    const { jobs, next } = await listJobs({ queue, state, name }, { after, limit });
    return { jobs: await presentJobs(jobs), next };
  },
});

export const findJobsCall = defineConsoleOperation({
  id: 'findJobs',
  method: 'get',
  path: '/jobs/about',
  action: 'queue.look',
  summary:
    'Jobs of every kind and state by what they are about: a purchase, account, settlement, report or delivery',
  query: Joi.object<{ about: string }>({ about: text(140).min(2).required() }),
  data: requiredObject({
    things: Joi.array()
      .items(
        requiredObject({
          kind: Joi.string().valid('purchase', 'account', 'settlement', 'report', 'delivery'),
          id: Joi.string(),
          account: Joi.string().allow(null),
        }),
      )
      .description('Everything with this id, `ref_id` or username, even without jobs.'),
    jobs: Joi.array().items(jobData).description('Failed jobs first, then the newest.'),
  }),
  async handle({ query: { about } }) {
    const { things, jobs } = await findJobs(about.trim());
    const usernames = await findUsernames(things.map(({ accountId }) => accountId));
    return {
      things: things.map(({ kind, id, accountId }) => ({
        kind,
        id,
        account: lookUp(usernames, accountId) ?? null,
      })),
      jobs: await presentJobs(jobs),
    };
  },
});

export const getJob = defineConsoleOperation({
  id: 'getJob',
  method: 'get',
  path: '/jobs/:id',
  action: 'queue.look',
  summary: 'A job with its payload and the errors of its rounds',
  params: idParams,
  data: requiredObject({
    job: jobData,
    payload: Joi.string().allow(null).description('Ids, as JSON. Null: this release cannot read it.'),
    failures: Joi.array()
      .items(requiredObject({ at: timestamp, reason: Joi.string().allow('') }))
      .description('Newest last, at most 20 rounds. A successful round clears them.'),
  }),
  async handle({ params }) {
    const found = await findJob(params.id);
    return {
      job: await presentJob(found),
      payload: found.data && JSON.stringify(found.data),
      failures: found.failures.map(({ at, reason }) => ({ at: at.toISOString(), reason })),
    };
  },
});

interface Body extends Reason {
  ids: string[];
}

export const retryJobsCall = defineConsoleOperation({
  id: 'retryJobs',
  method: 'post',
  path: '/jobs/retry',
  action: 'queue.work',
  summary: 'Retry many failed jobs now; each that cannot be retried has a reason',
  body: Joi.object<Body>({
    ids: Joi.array().items(text(200)).min(1).max(retriedMax).unique().required(),
    reason,
  }),
  data: requiredObject({ jobs: Joi.array().items(requiredObject({ id: Joi.string(), refusal })) }),
  async handle({ body, by }) {
    return { jobs: await retryJobs(body.ids, by) };
  },
});
