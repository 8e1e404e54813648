import Joi from 'joi';
import { text } from '../../api/fields.js';
import { usernamesOf } from '../../accounts/usernames-of.js';
import { findJobs } from '../../doctor/jobs/find-jobs.js';
import { lookUp } from '../../shared/look-up.js';
import { defineConsoleOperation, shape } from '../api/console-operation.js';
import { jobData, presentJobs } from './present-job.js';

export const findJobsCall = defineConsoleOperation({
  id: 'findJobs',
  method: 'get',
  path: '/jobs/about',
  action: 'queue.look',
  summary:
    'Jobs of every kind and state by what they are about: a purchase, account, settlement, report or delivery',
  query: Joi.object<{ about: string }>({ about: text(140).min(2).required() }),
  data: shape({
    things: Joi.array()
      .items(
        shape({
          kind: Joi.string().valid('purchase', 'account', 'settlement', 'report', 'delivery'),
          id: Joi.string(),
          account: Joi.string().allow(null),
        }),
      )
      .description('What has this id, `ref_id` or username, also where no job of it is left.'),
    jobs: Joi.array().items(jobData).description('Those that failed first, then the newest.'),
  }),
  async handle({ query: { about } }) {
    const { things, jobs } = await findJobs(about.trim());
    const usernames = await usernamesOf(things.map(({ accountId }) => accountId));
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
