import { counter, histogram } from '../shared/metrics.js';

export const observeJob = histogram({
  name: 'topup_job_duration_seconds',
  help: 'One run of a job: done, again (put back, for later), failed',
  // Not `job`: that is Prometheus' own name for what it scrapes.
  labels: ['job_name', 'outcome'],
  buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
});

export const countFound = counter({
  name: 'topup_sweep_found_total',
  help: 'Jobs that a sweep had to add again, because they were lost or late',
  labels: ['sweep'],
});
