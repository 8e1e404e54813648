import { counter, histogram } from '../../shared/metrics.js';
import { recordIncident } from '../../shared/incident-counts.js';

const groupSizes = histogram({
  name: 'topup_posting_group_size',
  help: 'Postings that were tried in one database transaction',
  labels: [],
  buckets: [1, 2, 5, 10, 20, 50, 100],
  zero: [{}],
});

const groupDurations = histogram({
  name: 'topup_posting_group_duration_seconds',
  help: 'How long one database transaction of a group of postings took',
  labels: [],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  zero: [{}],
});

/** Records the size and the duration of a group, even if the write fails. */
export async function observeGroup<T>(size: number, write: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await write();
  } finally {
    groupSizes({}, size);
    groupDurations({}, (performance.now() - startedMs) / 1_000);
  }
}

export const countRetry = counter({
  name: 'topup_posting_retries_total',
  help: 'Groups that were retried: conflict (another process held a document), mismatch (a document was not as expected), away (MongoDB did not accept it)',
  labels: ['reason'],
  zero: [{ reason: 'conflict' }, { reason: 'mismatch' }, { reason: 'away' }],
});

export const countUnknownCommit = counter({
  name: 'topup_posting_unknown_commits_total',
  help: 'Commits whose response was lost, so that their outcome was looked up',
  labels: [],
  zero: [{}],
});

const failedPostings = counter({
  name: 'topup_postings_failed_total',
  help: 'Postings that could not be written, through no fault of the database',
  labels: [],
  zero: [{}],
});

export function countFailedPosting(): void {
  failedPostings({});
  recordIncident('failedPostings');
}
