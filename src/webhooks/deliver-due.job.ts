import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';
import { defineClocked } from '../jobs/sweep-job.js';
import { webhookLimits } from './webhook-limits.js';

interface ReceiverData {
  receiverId: string;
  /** The account whose address it is. */
  accountId: string;
}

/**
 * One turn of a receiver. However many events it has, it takes one place in the queue; a turn that is asked for while
 * one is under way follows it, so that no row slips between the two.
 */
export const deliverDueJob = defineJob<ReceiverData>({
  queue: defineQueue({
    name: 'webhooks',
    does: 'Delivers webhooks and callbacks, one job a receiver',
    concurrency: webhookLimits.slots,
  }),
  name: 'deliver-due',
  version: 3,
  data: Joi.object({ receiverId: Joi.string(), accountId: Joi.string() }),
  subject: ({ receiverId }) => receiverId,
  whileActive: 'follow',
});

/** Finds receivers that are due and makes sure that each gets its turn. */
export const sweepDeliveriesJob = defineClocked('sweep-deliveries', 4_000);
