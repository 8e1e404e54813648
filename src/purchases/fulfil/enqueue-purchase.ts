import { logger } from '../../shared/logger.js';
import { queue } from '../../jobs/queues.js';
import { nowMs } from '../../shared/clock.js';
import type { Purchase } from '../purchase.model.js';

/** How long a new job has before the sweeper adds another; doubles with each that was lost, up to a minute. */
export function graceMs(epoch: number): number {
  return Math.min(60_000, 5_000 * 2 ** epoch);
}

/** When the sweeper must look at a purchase whose job is due at `dueMs`. */
export function sweepAfter(epoch: number, dueMs: number = nowMs()): Date {
  return new Date(dueMs + graceMs(epoch));
}

/**
 * Adds the fulfilment job of a purchase, after its commit. If Redis is away the purchase holds all the same:
 * the purchase is its own outbox, and the sweeper adds the job when Redis is back.
 */
export async function enqueuePurchase(purchase: Pick<Purchase, '_id' | 'epoch'>): Promise<void> {
  try {
    await queue('fulfilment').add(
      'fulfil',
      { v: 1, transactionId: purchase._id },
      { jobId: `fulfil-${purchase._id}-${purchase.epoch}` },
    );
  } catch (error) {
    logger.warn('job not added, the sweeper will', { purchaseId: purchase._id, error });
  }
}

/** Adds the job that asks the provider again after `delayMs`. `check` makes the job's id its own. */
export async function enqueueStatusCheck(
  purchase: Pick<Purchase, '_id' | 'epoch'>,
  { check, delayMs }: { check: number; delayMs: number },
): Promise<void> {
  try {
    await queue('polling').add(
      'check',
      { v: 1, transactionId: purchase._id },
      { jobId: `check-${purchase._id}-${purchase.epoch}-${check}`, delay: delayMs },
    );
  } catch (error) {
    logger.warn('status check not scheduled, the sweeper will', { purchaseId: purchase._id, error });
  }
}

/**
 * Adds the job that asks the provider at once because the provider itself called. However often it calls, one
 * check follows: the job's id is made of the checks so far. Without the job the schedule's own check comes.
 */
export async function enqueueCallbackCheck(
  order: { _id: string; transactionId: string; checks: number },
  delayMs: number,
): Promise<void> {
  try {
    await queue('polling').add(
      'callback',
      { v: 1, transactionId: order.transactionId },
      { jobId: `callback-${order._id}-${order.checks}-${delayMs > 0 ? 'later' : 'now'}`, delay: delayMs },
    );
  } catch (error) {
    logger.warn('check after a callback not added', { purchaseId: order.transactionId, error });
  }
}
