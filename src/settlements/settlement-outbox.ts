import { nowMs } from '../shared/clock.js';
import { outboxJob, type Outbox } from '../jobs/outbox.js';
import { defineSweep } from '../jobs/sweep-job.js';
import { payOutJob } from './pay-out.job.js';
import { settlements, type Settlement } from './settlement.model.js';

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
