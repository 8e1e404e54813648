import Joi from 'joi';
import { env } from '../../../config/env.js';
import { defineJob, defineQueue } from '../../jobs/define-job.js';

export interface PurchaseData {
  purchaseId: string;
  /** The buyer's. */
  accountId: string;
}

const fulfilmentQueue = defineQueue({
  name: 'fulfilment',
  does: 'Sends purchases to a provider',
  concurrency: env.FULFILMENT_CONCURRENCY,
});

/** Takes an accepted purchase to a provider. */
export const fulfilPurchaseJob = defineJob<PurchaseData>({
  queue: fulfilmentQueue,
  name: 'fulfil-purchase',
  version: 3,
  data: Joi.object({ purchaseId: Joi.string(), accountId: Joi.string() }),
  subject: ({ purchaseId }) => purchaseId,
});
