import Joi from 'joi';
import { env } from '../../../config/env.js';
import { defineJob, defineQueue } from '../../jobs/define-job.js';

export interface PurchaseData {
  purchaseId: string;
  /** The buyer's. Null in a job of an earlier release, which did not say. */
  accountId: string | null;
}

export const accountOfPurchase = Joi.string().allow(null);

const fulfilment = defineQueue({
  name: 'fulfilment',
  does: 'Sends purchases to a provider',
  concurrency: env.FULFILMENT_CONCURRENCY,
});

/** Takes an accepted purchase to a provider. */
export const fulfilPurchaseJob = defineJob<PurchaseData>({
  queue: fulfilment,
  name: 'fulfil-purchase',
  version: 3,
  data: Joi.object({ purchaseId: Joi.string(), accountId: accountOfPurchase }),
  earlier: [
    { name: 'fulfil-purchase', version: 2, read: ({ purchaseId }) => ({ purchaseId, accountId: null }) },
    {
      name: 'fulfil',
      version: 1,
      read: ({ transactionId }) => ({ purchaseId: transactionId, accountId: null }),
    },
  ],
  subject: ({ purchaseId }) => purchaseId,
});
