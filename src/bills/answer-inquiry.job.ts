import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';

interface InquiryData {
  inquiryId: string;
}

/** Asks a provider for a bill, while the client waits. */
export const answerInquiryJob = defineJob<InquiryData>({
  queue: defineQueue({ name: 'inquiries', does: 'Asks providers for bills', concurrency: 50 }),
  name: 'inquiries',
  version: 1,
  data: Joi.object({ inquiryId: Joi.string() }),
  subject: ({ inquiryId }) => inquiryId,
});
