import type { FleetLimits, Queue } from './define-job.js';
import { openQueue } from './queues.js';

/**
 * Interval in milliseconds at which the limits are written again, because Redis may have been
 * emptied.
 */
const rewriteIntervalMs = 30_000;
/** With a shorter interval in milliseconds, BullMQ starts several jobs together. */
const intervalMinMs = 10;

const written = new Map<string, { limits: string; atMs: number }>();

/** Writes the limits of a queue to BullMQ. Every process with workers for the queue may call it. */
export async function applyFleetLimits(queue: Queue): Promise<void> {
  const limits = queue.fleet ?? { concurrency: null, perSecond: null };
  const wanted = JSON.stringify(limits);
  const last = written.get(queue.name);
  if (last?.limits === wanted && performance.now() - last.atMs < rewriteIntervalMs) {
    return;
  }
  written.set(queue.name, { limits: wanted, atMs: performance.now() });
  const opened = openQueue(queue);
  const rate = toRate(limits);
  try {
    await Promise.all([
      limits.concurrency === null
        ? opened.removeGlobalConcurrency()
        : opened.setGlobalConcurrency(limits.concurrency),
      rate === null ? opened.removeGlobalRateLimit() : opened.setGlobalRateLimit(rate.jobs, rate.everyMs),
    ]);
  } catch (error) {
    written.delete(queue.name);
    throw error;
  }
}

/**
 * Returns the rate as one job per interval, or as several if the interval is too short for BullMQ.
 */
function toRate({ perSecond }: FleetLimits): { jobs: number; everyMs: number } | null {
  if (perSecond === null) {
    return null;
  }
  const intervalMs = 1_000 / perSecond;
  const jobs = Math.max(1, Math.round(intervalMinMs / intervalMs));
  return { jobs, everyMs: Math.ceil(jobs * intervalMs) };
}
