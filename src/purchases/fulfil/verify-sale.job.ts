import Joi from 'joi';
import { defineJob } from '../../jobs/define-job.js';
import { polling } from './ask-provider.job.js';
import type { PurchaseData } from './fulfil-purchase.job.js';

/** Asks once more about a sale that its provider says it took back. */
export const verifySaleJob = defineJob<PurchaseData>({
  queue: polling,
  name: 'verify-sale',
  version: 2,
  data: Joi.object({ purchaseId: Joi.string() }),
  earlier: [{ name: 'verify', version: 1, read: ({ transactionId }) => ({ purchaseId: transactionId }) }],
  subject: ({ purchaseId }) => purchaseId,
  whileActive: 'follow',
  // 2 s, 4 s, … to 2 hours: what it is about stands in no outbox.
  triesMax: 13,
});
