import Joi from 'joi';
import { defineJob } from '../../jobs/define-job.js';
import { pollingQueue } from './ask-provider.job.js';
import type { PurchaseData } from './fulfil-purchase.job.js';

/** Asks once more about a sale that its provider says it took back. */
export const verifySaleJob = defineJob<PurchaseData>({
  queue: pollingQueue,
  name: 'verify-sale',
  version: 3,
  data: Joi.object({ purchaseId: Joi.string(), accountId: Joi.string() }),
  subject: ({ purchaseId }) => purchaseId,
  whileActive: 'follow',
  // What it is about stands in no outbox.
  isSwept: false,
});
