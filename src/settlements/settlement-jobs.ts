import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';
import { nowMs } from '../shared/clock.js';
import { outboxJob, type Outbox } from '../jobs/outbox.js';
import { defineSweep } from '../jobs/sweep-job.js';
import { settlements, type Settlement } from './settlement.model.js';

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

/** How long a new job has before the sweep adds another. */
const graceMs = 5_000;

export function getSettlementSweepTime(): Date {
  return new Date(nowMs() + graceMs);
}

/** Settlements on their way. Whatever waits for the operator has no `nextActionAt`. */
export const settlementOutbox: Outbox<Settlement> = {
  name: 'settlements',
  collection: settlements,
  open: { status: { $in: ['pending', 'processing'] } },
  fields: ['needsApproval', 'requestId'],
  jobs: [
    outboxJob({
      job: payOutJob,
      dataOf: ({ _id, accountId }) => ({ settlementId: _id, accountId }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: ({ needsApproval }) => !needsApproval,
    }),
  ],
  graceMs: () => graceMs,
};

export const sweepSettlementsJob = defineSweep('sweep-settlements', 20_000);
