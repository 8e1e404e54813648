import Joi from 'joi';
import { defineJob } from '../jobs/define-job.js';
import { answerInquiryJob } from './answer-inquiry.job.js';

/** Asks a provider whose meter it is, while the client waits. What it is about is in Redis alone: meter-checks.ts. */
export const checkMeterJob = defineJob<{ checkId: string; accountId: string }>({
  queue: answerInquiryJob.queue,
  name: 'check-meter',
  version: 1,
  data: Joi.object({ checkId: Joi.string(), accountId: Joi.string() }),
  subject: ({ checkId }) => checkId,
  mayBeLost: true,
});
