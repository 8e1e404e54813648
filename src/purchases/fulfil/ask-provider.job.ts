import Joi from 'joi';
import { env } from '../../../config/env.js';
import { defineJob, defineQueue } from '../../jobs/define-job.js';
import type { PurchaseData } from './fulfil-purchase.job.js';

interface AskData extends PurchaseData {
  /** The provider itself called: ask before the schedule would. */
  askNow: boolean;
}

export const pollingQueue = defineQueue({
  name: 'polling',
  does: 'Asks providers about open purchases',
  concurrency: env.FULFILMENT_CONCURRENCY,
});

/**
 * Looks at an open purchase again: asks its provider, or looks for the next one. A purchase has one of these waiting by
 * the schedule, and whoever plans another one knows better when; a callback has one of its own, which no plan displaces.
 */
export const askProviderJob = defineJob<AskData>({
  queue: pollingQueue,
  name: 'ask-provider',
  version: 3,
  data: Joi.object({ purchaseId: Joi.string(), accountId: Joi.string(), askNow: Joi.boolean() }),
  subject: ({ purchaseId, askNow }) => (askNow ? `${purchaseId}-now` : purchaseId),
  whileDelayed: 'replace',
  whileActive: 'follow',
});
