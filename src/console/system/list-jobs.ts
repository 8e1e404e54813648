import Joi from 'joi';
import { text, wholeNumber } from '../../api/fields.js';
import { listJobs } from '../../doctor/jobs/list-jobs.js';
import { jobStates, type JobState } from '../../doctor/jobs/seen-job.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { jobData, presentJobs } from './present-job.js';

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
  summary: 'Jobs of a queue in a state, a page at a time: who runs next, or ended last, comes first',
  query: Joi.object<Query>({
    queue: text(100).required(),
    state: Joi.string()
      .valid(...jobStates)
      .default('failed'),
    name: text(64),
    after: text(150),
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: shape({
    jobs: Joi.array().items(jobData),
    next: Joi.string()
      .allow(null)
      .description('The `after` of the next page. Of one kind a page may be short, and not the last.'),
  }),
  async handle({ query: { queue, state, name, after, limit } }) {
    const { jobs, next } = await listJobs({ queue, state, name }, { after, limit });
    return { jobs: await presentJobs(jobs), next };
  },
});
