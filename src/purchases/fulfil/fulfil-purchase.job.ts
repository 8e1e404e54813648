import Joi from 'joi';
import { env } from '../../../config/env.js';
import { defineJob, defineQueue } from '../../jobs/define-job.js';

export interface PurchaseData {
  purchaseId: string;
}

const fulfilment = defineQueue({
  name: 'fulfilment',
  does: 'Sends purchases to a provider',
  concurrency: env.FULFILMENT_CONCURRENCY,
});

/** Takes an accepted purchase to a provider. */
export const fulfilPurchaseJob = defineJob<PurchaseData>({
  queue: fulfilment,
  name: 'fulfil-purchase',
  version: 2,
  data: Joi.object({ purchaseId: Joi.string() }),
  earlier: [{ name: 'fulfil', version: 1, read: ({ transactionId }) => ({ purchaseId: transactionId }) }],
  subject: ({ purchaseId }) => purchaseId,
});
