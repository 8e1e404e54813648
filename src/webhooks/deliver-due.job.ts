import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';
import { schedules } from '../jobs/sweep-job.js';
import { webhookLimits } from './webhook-limits.js';

interface ReceiverData {
  receiverId: string;
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
  version: 2,
  data: Joi.object({ receiverId: Joi.string() }),
  earlier: [{ name: 'token', version: 1, read: ({ receiverId }) => ({ receiverId }) }],
  subject: ({ receiverId }) => receiverId,
  whileActive: 'follow',
});

/** Finds receivers that are due and makes sure that each gets its turn. */
export const sweepDeliveriesJob = defineJob<object>({
  queue: schedules,
  name: 'sweep-deliveries',
  version: 1,
  data: Joi.object({}),
  subject: () => 'all',
  clock: { everyMs: 4_000, data: {} },
});
