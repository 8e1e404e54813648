import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';
import { nowMs } from '../shared/clock.js';
import { defineOutboxJob, type Outbox } from '../jobs/outbox.js';
import { defineSweep } from '../jobs/sweep-job.js';
import { settlements, type Settlement } from './settlement.model.js';

interface SettlementData {
  settlementId: string;
  /** The seller's account. */
  accountId: string;
}

/** Starts the payout of one settlement. */
export const payOutJob = defineJob<SettlementData>({
  queue: defineQueue({ name: 'settlements', does: 'Pays out settlements', concurrency: 8 }),
  name: 'pay-out',
  version: 2,
  data: Joi.object({ settlementId: Joi.string(), accountId: Joi.string() }),
  subject: ({ settlementId }) => settlementId,
});

/** Milliseconds that a new job has before the sweep adds another. */
const graceMs = 5_000;

export function getSettlementSweepTime(): Date {
  return new Date(nowMs() + graceMs);
}

/** The outbox of open settlements. Settlements that wait for an operator have no `nextActionAt`. */
export const settlementOutbox: Outbox<Settlement> = {
  name: 'settlements',
  collection: settlements,
  open: { status: { $in: ['pending', 'processing'] } },
  fields: ['needsApproval', 'requestId'],
  jobs: [
    defineOutboxJob({
      job: payOutJob,
      dataOf: ({ _id, accountId }) => ({ settlementId: _id, accountId }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: ({ needsApproval }) => !needsApproval,
    }),
  ],
  graceMs: () => graceMs,
};

export const sweepSettlementsJob = defineSweep('sweep-settlements', 20_000);
