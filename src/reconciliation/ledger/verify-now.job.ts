import Joi from 'joi';
import { defineJob } from '../../jobs/define-job.js';
import { schedules } from '../../jobs/sweep-job.js';
import { verificationMaxMs } from './verification-limit.js';

/** Verifies the ledger because somebody asks for it, in a process that answers nobody meanwhile. Lost, it is asked for again. */
export const verifyNowJob = defineJob<object>({
  queue: schedules,
  name: 'verify-ledger-now',
  version: 1,
  data: Joi.object({}),
  subject: () => 'all',
  mayBeLost: true,
  limitMs: verificationMaxMs,
});
