import Joi from 'joi';
import { timestamp } from '../../api/fields.js';
import { findJob } from '../../doctor/jobs/find-jobs.js';
import { defineConsoleOperation, idParams, shape } from '../api/console-operation.js';
import { jobData, presentJob } from './present-job.js';

export const getJob = defineConsoleOperation({
  id: 'getJob',
  method: 'get',
  path: '/jobs/:id',
  action: 'queue.look',
  summary: 'A job with its payload and what its rounds failed with',
  params: idParams,
  data: shape({
    job: jobData,
    payload: Joi.string().allow(null).description('Ids, as JSON. Null: nobody knows what it holds.'),
    failures: Joi.array()
      .items(shape({ at: timestamp, reason: Joi.string().allow('') }))
      .description('The newest last, 20 of its rounds at most. They are forgotten once a round was good.'),
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
