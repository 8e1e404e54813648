/**
 * When an order that nobody can serve now is looked at again: after ten seconds. Thousands of them, whose provider has gone
 * while they waited for their turn, would keep a process busy with nothing else; so they are looked at one after the other, in the
 * order in which they were put aside, and at a pace that leaves room for the orders of others (decision 020).
 */

/** The soonest. */
const retryEveryMs = 10_000;
/** Fifty looks a second and seller: where more than 500 wait, each waits for longer than ten seconds. */
const retrySpacingMs = 20;

interface RetryLine {
  /** The last look that was promised, and when: by the clock of this process, which nobody sets. */
  lookAtMs: number;
  promisedMs: number;
}

/** By seller. In this process alone: each has a pace of its own. */
const retryLines = new Map<string, RetryLine>();

/**
 * The delay until the next look at an order, in milliseconds.
 * @param options.sellerId Whose provider it waits for.
 *   `leftMs`: what is left of its longest wait. Then it is looked at whatever the pace, and given back in time.
 */
export function getRetryDelayMs(
  { sellerId, leftMs }: { sellerId: string; leftMs: number },
  nowMs = performance.now(),
): number {
  const line = retryLines.get(sellerId);
  const soonestMs = nowMs + retryEveryMs;
  // With none put aside for longer than one waits, nobody is in line any more, whatever was promised.
  const isInLine = line !== undefined && nowMs - line.promisedMs <= 2 * retryEveryMs;
  const lookAtMs = isInLine ? Math.max(soonestMs, line.lookAtMs + retrySpacingMs) : soonestMs;
  retryLines.set(sellerId, { lookAtMs, promisedMs: nowMs });
  return Math.max(0, Math.min(lookAtMs - nowMs, leftMs));
}
