import { counter, histogram } from '../../shared/metrics.js';
import { recordIncident } from '../../shared/incident-counts.js';
import { readSamples } from '../../samples/read-samples.js';
import { countSample } from '../../samples/record-samples.js';

const incrementAttempts = counter({
  name: 'topup_webhook_attempts_total',
  help: 'Requests to receivers of webhooks and callbacks, by outcome',
  labels: ['outcome'],
  zero: [{ outcome: 'delivered' }, { outcome: 'failed' }, { outcome: 'timeout' }],
});

export function countAttempt(outcome: string): void {
  incrementAttempts({ outcome });
  if (outcome === 'unsent') {
    recordIncident('unsentWebhooks');
  }
}

export const observeFirstAttempt = histogram({
  name: 'topup_webhook_first_attempt_delay_seconds',
  help: 'Time from an event to the end of its first request, whatever the outcome',
  labels: [],
  buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300],
  zero: [{}],
});

/** Subject of the console's delivery samples, for all receivers together. */
const subject = 'receivers';

/** Counts one request to a receiver. */
export function sampleAttempt(isDelivered: boolean): void {
  countSample(subject, [isDelivered ? 'delivered' : 'failed']);
}

/** Reads request counts in slots of five minutes, earliest first. */
export async function readAttemptFigures(span: {
  sinceMs: number;
  untilMs: number;
}): Promise<{ fromMs: number; delivered: number; failed: number }[]> {
  const found = await readSamples([subject], span);
  return (found.get(subject)?.slots ?? []).map(({ fromMs, slot: { delivered = 0, failed = 0 } }) => ({
    fromMs,
    delivered,
    failed,
  }));
}
