import { retryFailingJob } from '../../doctor/retry-failing-job.js';
import {
  defineConsoleOperation,
  idParams,
  reasonBody,
  shape,
  type Reason,
} from '../api/console-operation.js';

export const retryJob = defineConsoleOperation<Reason, { id: string }>({
  id: 'retryJob',
  method: 'post',
  path: '/system/jobs/:id/retry',
  action: 'queue.work',
  summary: 'Let a job that failed again and again run again, now',
  params: idParams,
  body: reasonBody,
  data: shape({}),
  async handle({ params, by }) {
    await retryFailingJob(params.id, by);
    return {};
  },
});
