import { sampleEnd } from '../../providers/provider-samples.js';
import { nowMs } from '../../shared/clock.js';
import { histogram } from '../../shared/metrics.js';
import type { Purchase } from '../purchase.model.js';
import { sampleDuration } from '../purchase-samples.js';

const durations = histogram({
  name: 'topup_purchase_duration_seconds',
  help: 'From an accepted purchase to its final state',
  labels: ['outcome'],
  buckets: [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3_600],
  zero: [{ outcome: 'success' }, { outcome: 'failed' }],
});

/**
 * Counted when it is written, so once for each purchase. Not how long it took where a person decided, or had it asked again: that says
 * nothing about the service.
 * @param order Whose fate it is that became certain with it, if any.
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
