import Joi from 'joi';
import { text } from '../../api/fields.js';
import { retriedMax, retryJobs } from '../../doctor/jobs/retry-jobs.js';
import { defineConsoleOperation, reason, shape, type Reason } from '../api/console-operation.js';
import { refusal } from './present-job.js';

interface Body extends Reason {
  ids: string[];
}

export const retryJobsCall = defineConsoleOperation({
  id: 'retryJobs',
  method: 'post',
  path: '/jobs/retry',
  action: 'queue.work',
  summary: 'Let many jobs that failed run again, now; what cannot says why',
  body: Joi.object<Body>({
    ids: Joi.array().items(text(200)).min(1).max(retriedMax).unique().required(),
    reason,
  }),
  data: shape({ jobs: Joi.array().items(shape({ id: Joi.string(), refusal })) }),
  async handle({ body, by }) {
    return { jobs: await retryJobs(body.ids, by) };
  },
});
