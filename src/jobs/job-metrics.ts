import { nowMs } from '../shared/clock.js';
import { counter, gauge, histogram } from '../shared/metrics.js';

export const observeJob = histogram({
  name: 'topup_job_duration_seconds',
  help: 'Duration of one run of a job, by outcome: done, again (requeued or deferred), failed',
  // The label is not `job`, because Prometheus uses that name for the scrape target.
  labels: ['job_name', 'outcome'],
  buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
});

const sweepFound = counter({
  name: 'topup_sweep_found_total',
  help: 'Jobs that a sweep had to add again, because they were lost or late',
  labels: ['sweep'],
});

/**
 * Time of this process's last run of each sweep, by sweep name. The process with the latest time is
 * the one that runs the sweep now.
 */
const sweptAtMs = new Map<string, number>();

gauge(
  {
    name: 'topup_sweep_done_timestamp_seconds',
    help: 'When this process last swept; the process with the latest time does the sweep now',
    labels: ['sweep'],
  },
  () => [...sweptAtMs].map(([sweep, atMs]) => [{ sweep }, atMs / 1_000]),
);

/**
 * Records a finished sweep.
 * @param count Number of jobs that the sweep added again.
 */
export function observeSweep(sweep: string, count: number): void {
  sweptAtMs.set(sweep, nowMs());
  sweepFound({ sweep }, count);
}
