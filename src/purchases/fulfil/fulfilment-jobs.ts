import Joi from 'joi';
import { env } from '../../../config/env.js';
import { defineJob, defineQueue, type Job } from '../../jobs/define-job.js';
import { tryToAddJob } from '../../jobs/add-job.js';
import { getProviderQueue } from '../../providers/provider-queue.js';
import { batchCalls } from '../../shared/concurrency.js';
import { getQuickCollection } from '../../database/mongo.js';
import { purchases, type Purchase } from '../purchase.model.js';
import { nowMs } from '../../shared/clock.js';
import { defineOutboxJob, type Outbox } from '../../jobs/outbox.js';
import { defineSweep } from '../../jobs/sweep-job.js';

export interface PurchaseData {
  purchaseId: string;
  /** The buyer. */
  accountId: string;
}

const fulfilmentQueue = defineQueue({
  name: 'fulfilment',
  does: 'Sends purchases to a provider',
  concurrency: env.FULFILMENT_CONCURRENCY,
});

/** Sends an accepted purchase to a provider. */
export const fulfilPurchaseJob = defineJob<PurchaseData>({
  queue: fulfilmentQueue,
  name: 'fulfil-purchase',
  version: 3,
  data: Joi.object({ purchaseId: Joi.string(), accountId: Joi.string() }),
  subject: ({ purchaseId }) => purchaseId,
});

const jobsBySeller = new Map<string, Job<PurchaseData>>();

/** Returns the job of a purchase that waits in the queue of this seller's provider. */
export function getProviderFulfilmentJob(sellerId: string): Job<PurchaseData> {
  const found = jobsBySeller.get(sellerId) ?? { ...fulfilPurchaseJob, queue: getProviderQueue(sellerId) };
  jobsBySeller.set(sellerId, found);
  return found;
}

interface AskData extends PurchaseData {
  /** True after a callback from the provider. The check then does not wait for its schedule. */
  askNow: boolean;
}

export const pollingQueue = defineQueue({
  name: 'polling',
  does: 'Queries providers about open purchases',
  concurrency: env.FULFILMENT_CONCURRENCY,
});

/**
 * Checks an open purchase: queries its provider, or looks for the next seller. A purchase has at
 * most one scheduled job of this kind, and a new schedule replaces the previous one. A callback
 * adds a separate job, which no schedule replaces.
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

/**
 * Adds a check that does not wait for its schedule. Repeated calls share one job. If it is lost, the
 * scheduled check follows.
 */
export async function requestCheckNow(
  purchase: Pick<Purchase, '_id' | 'accountId'> & { requestId?: string | undefined },
): Promise<void> {
  const { _id: purchaseId, accountId, requestId } = purchase;
  await tryToAddJob(askProviderJob, { purchaseId, accountId, askNow: true }, { requestId });
}

/** Queries the provider again about a sale that it reported as reversed. */
export const verifySaleJob = defineJob<PurchaseData>({
  queue: pollingQueue,
  name: 'verify-sale',
  version: 3,
  data: Joi.object({ purchaseId: Joi.string(), accountId: Joi.string() }),
  subject: ({ purchaseId }) => purchaseId,
  whileActive: 'follow',
  // Verifications have no outbox, so the sweep cannot add a lost job again.
  isSwept: false,
});

/** Loads the current purchase, or null if there is none. Concurrent calls share a query. */
export const loadPurchase = batchCalls<PurchaseData, Purchase | null>({
  itemsMax: 100,
  async run(wanted) {
    const found = await getQuickCollection(purchases)
      .find({
        accountId: { $in: [...new Set(wanted.map(({ accountId }) => accountId))] },
        _id: { $in: wanted.map(({ purchaseId }) => purchaseId) },
      })
      .toArray();
    const byId = new Map(found.map((each) => [each._id, each]));
    return wanted.map(({ purchaseId }) => byId.get(purchaseId) ?? null);
  },
});

/**
 * Returns the time in milliseconds before the sweep adds another job. The time doubles with each
 * lost job, up to a minute.
 */
export function getGraceMs(epoch: number): number {
  return Math.min(60_000, 5_000 * 2 ** epoch);
}

/** Returns the time at which the sweep handles a purchase whose job is due at `dueMs`. */
export function getSweepTime(epoch: number, dueMs: number = nowMs()): Date {
  return new Date(dueMs + getGraceMs(epoch));
}

/** Outbox of open purchases. Purchases under review have no `nextActionAt`. */
export const purchaseOutbox: Outbox<Purchase> = {
  name: 'purchases',
  collection: purchases,
  open: { status: { $in: ['PENDING', 'PROCESSING'] } },
  fields: ['status', 'queuedFor', 'requestId'],
  jobs: [
    defineOutboxJob({
      job: ({ queuedFor }) => (queuedFor ? getProviderFulfilmentJob(queuedFor) : fulfilPurchaseJob),
      dataOf: ({ _id, accountId }) => ({ purchaseId: _id, accountId }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: ({ status, queuedFor }) => Boolean(queuedFor) || status === 'PENDING',
    }),
    defineOutboxJob({
      job: askProviderJob,
      dataOf: ({ _id, accountId }) => ({ purchaseId: _id, accountId, askNow: false }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: ({ status, queuedFor }) => !queuedFor && status === 'PROCESSING',
    }),
  ],
  graceMs: getGraceMs,
};

export const sweepPurchasesJob = defineSweep('sweep-purchases', 5_000);
