import { nowMs } from '../../shared/clock.js';
import { outboxJob, type Outbox } from '../../jobs/outbox.js';
import { defineSweep } from '../../jobs/sweep-job.js';
import { purchases, type Purchase } from '../purchase.model.js';
import { askProviderJob } from './ask-provider.job.js';
import { getProviderFulfilmentJob } from './fulfil-at-provider.job.js';
import { fulfilPurchaseJob } from './fulfil-purchase.job.js';

/** How long a new job has before the sweep adds another; doubles with each that was lost, up to a minute. */
export function graceMs(epoch: number): number {
  return Math.min(60_000, 5_000 * 2 ** epoch);
}

/** When the sweep must look at a purchase whose job is due at `dueMs`. */
export function getSweepTime(epoch: number, dueMs: number = nowMs()): Date {
  return new Date(dueMs + graceMs(epoch));
}

/** Open purchases. Whatever waits for the operator has no `nextActionAt`. */
export const purchaseOutbox: Outbox<Purchase> = {
  name: 'purchases',
  collection: purchases,
  open: { status: { $in: ['PENDING', 'PROCESSING'] } },
  fields: ['status', 'queuedFor', 'requestId'],
  jobs: [
    outboxJob({
      job: ({ queuedFor }) => (queuedFor ? getProviderFulfilmentJob(queuedFor) : fulfilPurchaseJob),
      dataOf: ({ _id, accountId }) => ({ purchaseId: _id, accountId }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: ({ status, queuedFor }) => Boolean(queuedFor) || status === 'PENDING',
    }),
    outboxJob({
      job: askProviderJob,
      dataOf: ({ _id, accountId }) => ({ purchaseId: _id, accountId, askNow: false }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: ({ status, queuedFor }) => !queuedFor && status === 'PROCESSING',
    }),
  ],
  graceMs,
};

export const sweepPurchasesJob = defineSweep('sweep-purchases', 5_000);
