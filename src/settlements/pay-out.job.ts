import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';

interface SettlementData {
  settlementId: string;
  /** The seller's. Null in a job of an earlier release, which did not say. */
  accountId: string | null;
}

/** Takes a settlement on its way to the bank. */
export const payOutJob = defineJob<SettlementData>({
  queue: defineQueue({ name: 'settlements', does: 'Pays out settlements', concurrency: 8 }),
  name: 'pay-out',
  version: 2,
  data: Joi.object({ settlementId: Joi.string(), accountId: Joi.string().allow(null) }),
  earlier: [{ name: 'pay-out', version: 1, read: (payload) => ({ ...payload, accountId: null }) }],
  subject: ({ settlementId }) => settlementId,
});
