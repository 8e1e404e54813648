import { getBucketName, countSlot, computeQuantile } from '../samples/latency-buckets.js';
import { readSamples, sumSlots } from '../samples/read-samples.js';
import { countSample } from '../samples/record-samples.js';
import { hourMs, type Slot } from '../samples/sample.model.js';
import { sampleEnd } from '../providers/provider-metrics.js';
import { nowMs } from '../shared/clock.js';
import { histogram } from '../shared/metrics.js';
import type { Purchase } from './purchase.model.js';

const purchasesSubject = 'purchases';

/** Records how long a purchase took from acceptance to its final state. */
export function sampleDuration(durationMs: number): void {
  countSample(purchasesSubject, [getBucketName(durationMs)]);
}

/**
 * Durations in seconds of the purchases that ended in a period. Each is null if no purchase ended.
 */
export interface Durations {
  ended: number;
  median_s: number | null;
  p95_s: number | null;
}

/**
 * Reads the durations for each hour, and for the whole period.
 * @param hours The start times of consecutive hours, in milliseconds.
 */
export async function readDurationsByHour(
  hours: readonly number[],
): Promise<{ of: (fromMs: number) => Durations; all: Durations }> {
  const [sinceMs = 0] = hours;
  const found = await readSamples([purchasesSubject], { sinceMs, untilMs: sinceMs + hours.length * hourMs });
  const slots = found.get(purchasesSubject)?.slots ?? [];
  const within = (fromMs: number, untilMs: number) =>
    sumSlots(slots.filter((each) => each.fromMs >= fromMs && each.fromMs < untilMs).map(({ slot }) => slot));
  return {
    of: (fromMs) => getDurations(within(fromMs, fromMs + hourMs)),
    all: getDurations(within(sinceMs, Infinity)),
  };
}

function getDurations(slot: Slot): Durations {
  const secondsOf = (share: number) => {
    const ms = computeQuantile(slot, share);
    return ms === null ? null : ms / 1_000;
  };
  return { ended: countSlot(slot), median_s: secondsOf(0.5), p95_s: secondsOf(0.95) };
}

const durations = histogram({
  name: 'topup_purchase_duration_seconds',
  help: 'Time from the acceptance of a purchase to its final state',
  labels: ['outcome'],
  buckets: [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3_600],
  zero: [{ outcome: 'success' }, { outcome: 'failed' }],
});

/**
 * Counts the conclusion of a purchase. Call it after the posting, so that each purchase is counted
 * once. If an operator decided the outcome, the duration is not recorded, because it says nothing
 * about the service.
 * @param order The order that the conclusion closed, if any.
 */
export function countConclusion(
  { createdAt, reviewAskedAt }: Pick<Purchase, 'createdAt' | 'reviewAskedAt'>,
  outcome: 'success' | 'failed',
  order: { sellerId: string } | null,
): void {
  if (!reviewAskedAt) {
    const tookMs = Math.max(0, nowMs() - createdAt.getTime());
    durations({ outcome }, tookMs / 1_000);
    sampleDuration(tookMs);
  }
  if (order) {
    sampleEnd(order.sellerId, outcome === 'success' ? 'sold' : 'failed');
  }
}

export function getLogFields({ _id, requestId }: Pick<Purchase, '_id' | 'requestId'>) {
  return { purchaseId: _id, ...(requestId !== undefined && { requestId }) };
}
