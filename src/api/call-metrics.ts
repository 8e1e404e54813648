import { counter, histogram } from '../shared/metrics.js';

const calls = counter({
  name: 'topup_http_requests_total',
  help: 'Calls that were answered, by operation, HTTP status and code of the answer',
  labels: ['operation', 'status', 'code'],
});

const durations = histogram({
  name: 'topup_http_request_duration_seconds',
  help: 'From a call to the end of its answer',
  labels: ['operation'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

const judged = counter({
  name: 'topup_http_judged_total',
  help: 'Calls that the service level is about: those of accounts, and any that failed; not those of strangers without a valid key',
  labels: ['operation'],
});

const failures = counter({
  name: 'topup_http_failures_total',
  help: 'Of these, those that failed through our own fault, or that of a database; not a product under maintenance',
  labels: ['operation'],
});

/** @param call.operation Null for what is no operation of the interface: the console, the documentation, unknown paths. */
export function countCall(call: {
  operation: string | null;
  /** Nobody knows whose it was: no credentials, or wrong ones. */
  isStranger: boolean;
  status: number;
  code: string | null;
  durationMs: number;
  /** The fault is ours. */
  failed: boolean;
}): void {
  const operation = call.operation ?? 'other';
  calls({ operation, status: String(call.status), code: call.code ?? '' });
  durations({ operation }, call.durationMs / 1_000);
  judged({ operation }, call.operation !== null && (call.failed || !call.isStranger) ? 1 : 0);
  // At 0 as well, so that there is always something to divide.
  failures({ operation }, call.failed ? 1 : 0);
}
