import { idsBetween } from './page-of-purchases.js';
import { purchases, type Purchase } from './purchase.model.js';

/** How long purchases took from acceptance to their end, in seconds, the shortest first. */
export interface LatencySample {
  fromMs: number;
  seconds: number[];
}

/** Of one span. */
export const sampledMax = 200;

/**
 * How long the newest purchases of each span took, of those that have come to an end: at most
 * `sampledMax` a span, along `_id`. Nothing keeps latencies by the hour, and no page reads a day of purchases.
 */
export async function sampleLatency(
  spans: readonly { fromMs: number; toMs: number }[],
): Promise<LatencySample[]> {
  const samples: LatencySample[] = [];
  for (const { fromMs, toMs } of spans) {
    const found = await purchases
      .find<Pick<Purchase, 'status' | 'createdAt' | 'finalAt'>>(
        { _id: idsBetween(fromMs, toMs) },
        { projection: { _id: 0, status: 1, createdAt: 1, finalAt: 1 } },
      )
      .sort({ _id: -1 })
      .limit(sampledMax)
      .toArray();
    samples.push({ fromMs, seconds: found.flatMap(secondsOf).sort((a, b) => a - b) });
  }
  return samples;
}

/** What was taken back later has another end than its customer has seen. */
function secondsOf({ status, createdAt, finalAt }: Pick<Purchase, 'status' | 'createdAt' | 'finalAt'>) {
  const hasEnded = finalAt !== null && (status === 'SUCCESS' || status === 'FAILED');
  return hasEnded ? [Math.max(0, finalAt.getTime() - createdAt.getTime()) / 1_000] : [];
}
