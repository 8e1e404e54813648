import { answerInquiry } from '../src/bills/answer-inquiry.js';
import { startWorker } from '../src/jobs/queues.js';
import type { RunningWorker } from './run.js';

/** Asks providers for bills, while the client waits. */
export function startInquiriesWorker(): RunningWorker {
  return startWorker('inquiries', (job) => answerInquiry(job.data.inquiryId), { concurrency: 50 });
}
