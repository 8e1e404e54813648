import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';

interface SettlementData {
  settlementId: string;
  /** The seller's. */
  accountId: string;
}

/** Takes a settlement on its way to the bank. */
export const payOutJob = defineJob<SettlementData>({
  queue: defineQueue({ name: 'settlements', does: 'Pays out settlements', concurrency: 8 }),
  name: 'pay-out',
  version: 2,
  data: Joi.object({ settlementId: Joi.string(), accountId: Joi.string() }),
  subject: ({ settlementId }) => settlementId,
});
