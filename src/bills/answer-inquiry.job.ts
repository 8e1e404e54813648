import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';

interface InquiryData {
  inquiryId: string;
  /** The buyer's. */
  accountId: string;
}

/** Asks a provider for a bill, while the client waits. */
export const answerInquiryJob = defineJob<InquiryData>({
  queue: defineQueue({
    name: 'inquiries',
    does: 'Asks providers for bills and about meters',
    concurrency: 50,
  }),
  name: 'inquiries',
  version: 2,
  data: Joi.object({ inquiryId: Joi.string(), accountId: Joi.string() }),
  subject: ({ inquiryId }) => inquiryId,
  mayBeLost: true,
});
