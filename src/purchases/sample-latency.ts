import { idsBetween } from './page-of-purchases.js';
import { purchases, type Purchase } from './purchase.model.js';

/** Of one hour of a plot. */
export const sampledMax = 50;

/**
 * How long the newest purchases of a span took from acceptance to their end, in seconds, the shortest first: of those that have come to an end,
 * among at most `max`, along `_id`. Nothing keeps latencies by the hour, and no page reads a day of purchases.
 */
export async function sampleLatency(
  { fromMs, toMs }: { fromMs: number; toMs: number },
  max: number,
): Promise<number[]> {
  const found = await purchases
    .find<Pick<Purchase, 'status' | 'createdAt' | 'finalAt'>>(
      { _id: idsBetween(fromMs, toMs) },
      { projection: { _id: 0, status: 1, createdAt: 1, finalAt: 1 } },
    )
    .sort({ _id: -1 })
    .limit(max)
    .toArray();
  return found.flatMap(secondsOf).sort((a, b) => a - b);
}

/** What was taken back later has another end than its customer has seen. */
function secondsOf({ status, createdAt, finalAt }: Pick<Purchase, 'status' | 'createdAt' | 'finalAt'>) {
  const hasEnded = finalAt !== null && (status === 'SUCCESS' || status === 'FAILED');
  return hasEnded ? [Math.max(0, finalAt.getTime() - createdAt.getTime()) / 1_000] : [];
}
