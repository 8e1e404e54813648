/**
 * Bounds times in MongoDB that are too late after Redis's clock was set back. They were written
 * with the earlier clock, so work would wait for as long as the step. Doing work early is safe:
 * each job checks what is due, and an order's lease still outlasts every request.
 */
import type { Collection, Document } from 'mongodb';
import { storedAlarms } from '../alarms/alarm.model.js';
import type { Outbox, OutboxDocument } from '../jobs/outbox.js';
import { callTimeoutMaxMs } from '../providers/get-adapter.js';
import { purchaseOutbox } from '../purchases/fulfil/fulfilment-jobs.js';
import { sendWithinMs } from '../purchases/fulfil/orders.js';
import { orders } from '../purchases/order.model.js';
import { endClockStep, readClockStep, stepKeptMs } from '../redis/clock-step.js';
import { redis } from '../redis/connection.js';
import { withLease } from '../redis/lease.js';
import { claimMs as reportClaimMs } from '../reports/generate-report.js';
import { reportOutbox } from '../reports/report-queue.js';
import { settlementOutbox } from '../settlements/settlement-jobs.js';
import { nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { repeat } from '../shared/repeat.js';
import { deliveries } from '../webhooks/deliver/delivery.model.js';
import { receivers } from '../webhooks/receivers/receiver.model.js';
import { webhookLimits } from '../webhooks/webhook-limits.js';

const lookEveryMs = 5_000;
const leaseMs = 30_000;

/**
 * A purchase or settlement is looked at this many milliseconds after the repair. Later repairs of
 * the same step do not postpone it.
 */
const lookSoonMs = 10_000;

/** Times of a collection that a clock may make too late. */
interface StoredTimes {
  collection: Collection;
  filter: Document;
  /** An index that finds the documents, if the filter alone does not. */
  hint?: string;
  /** How far each field may lie in the future, in milliseconds. */
  aheadMs: Record<string, number>;
  /** Default: a date. */
  toStored?: (ms: number) => unknown;
}

function listStoredTimes(): StoredTimes[] {
  const from = (collection: object) => collection as Collection;
  const ofOutbox = <T extends OutboxDocument>({ collection, open }: Outbox<T>, nextActionAt: number) => ({
    collection: from(collection),
    filter: open as Document,
    aheadMs: { nextActionAt },
  });
  return [
    {
      collection: from(orders),
      filter: { open: true },
      hint: 'account_one_open_attempt',
      // The lease must outlast a request that is in flight now.
      aheadMs: { sentAt: 0, lastCheckAt: 0, leaseUntil: sendWithinMs + callTimeoutMaxMs },
    },
    ofOutbox(purchaseOutbox, lookSoonMs),
    ofOutbox(settlementOutbox, lookSoonMs),
    // Until this time, one process generates the report.
    ofOutbox(reportOutbox, reportClaimMs),
    {
      collection: from(deliveries),
      filter: { state: 'due' },
      hint: 'receiver_due',
      aheadMs: { nextAttemptAt: webhookLimits.leaseMs },
    },
    {
      collection: from(receivers),
      filter: {},
      aheadMs: { openUntil: 0, slowUntil: webhookLimits.totalTimeoutMs },
    },
    {
      collection: from(storedAlarms),
      filter: {},
      aheadMs: { since: 0, seenAt: 0, claimedUntil: 0 },
    },
    { collection: from(storedAlarms), filter: {}, aheadMs: { judgedAtMs: 0 }, toStored: Number },
  ];
}

/** Repairs the stored times while a step is on record, and then ends the record. */
export function repairStoredTimes(): { stop(): Promise<void> } {
  return repeat({
    name: 'times after a clock step',
    everyMs: lookEveryMs,
    async run() {
      const step = redis().status === 'ready' ? await readClockStep() : null;
      if (!step) {
        return;
      }
      await withLease('clock-step', leaseMs, async () => {
        // Until the step is this old, a process may still follow the old clock and write late times.
        const isLast = nowMs() - step.atMs >= stepKeptMs;
        await Promise.all(listStoredTimes().map(boundTimes));
        if (isLast) {
          await endClockStep();
          logger.info('the times after a step of the clock of redis are repaired', { byMs: step.byMs });
        }
      });
    },
  });
}

async function boundTimes({ collection, filter, hint, aheadMs, toStored = toDate }: StoredTimes) {
  for (const [field, ms] of Object.entries(aheadMs)) {
    const latest = toStored(nowMs() + ms);
    await collection.updateMany(
      { ...filter, [field]: { $gt: latest } },
      { $set: { [field]: latest } },
      hint === undefined ? {} : { hint },
    );
  }
}

function toDate(ms: number): Date {
  return new Date(ms);
}
