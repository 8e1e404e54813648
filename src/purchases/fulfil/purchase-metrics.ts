import { histogram } from '../../shared/metrics.js';

const durations = histogram({
  name: 'topup_purchase_duration_seconds',
  help: 'From an accepted purchase to its final state',
  labels: ['outcome'],
  buckets: [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3_600],
  zero: [{ outcome: 'success' }, { outcome: 'failed' }],
});

/** Counted when it is written, so once for each purchase. */
export function observeEnd(
  { createdAt }: { createdAt: Date },
  outcome: 'success' | 'failed',
  atMs: number,
): void {
  durations({ outcome }, Math.max(0, atMs - createdAt.getTime()) / 1_000);
}
