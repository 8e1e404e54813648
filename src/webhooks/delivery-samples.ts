/** What the console plots of deliveries, by five minutes, of all receivers together. */
import { readSamples } from '../samples/read-samples.js';
import { countSample } from '../samples/sampling.js';

const subject = 'receivers';

/** One request to a receiver. */
export function sampleAttempt(isDelivered: boolean): void {
  countSample(subject, [isDelivered ? 'delivered' : 'failed']);
}

/** Requests to receivers by five minutes, the earliest first. */
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
