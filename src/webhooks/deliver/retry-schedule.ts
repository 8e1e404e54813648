const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/**
 * The retry schedule, also used by the documentation and the account's deliveries page. `waitMs`
 * counts from the previous attempt. The first attempt is made at once.
 */
export const retrySchedule = [
  { waitMs: 0, words: 'at once' },
  { waitMs: 5 * secondMs, words: '5 s' },
  { waitMs: 30 * secondMs, words: '30 s' },
  { waitMs: 2 * minuteMs, words: '2 min' },
  { waitMs: 10 * minuteMs, words: '10 min' },
  { waitMs: 30 * minuteMs, words: '30 min' },
  { waitMs: 2 * hourMs, words: '2 h' },
  { waitMs: 5 * hourMs, words: '5 h' },
  { waitMs: 10 * hourMs, words: '10 h' },
  { waitMs: 14 * hourMs, words: '14 h' },
  { waitMs: 20 * hourMs, words: '20 h' },
  { waitMs: 24 * hourMs, words: '24 h' },
] as const;

/**
 * Each wait is extended by a random part of this fraction, so that receivers that failed together
 * are not retried together.
 */
export const jitterMax = 0.2;

/** Milliseconds from the first attempt to the last, without jitter. */
export const scheduleSpanMs = retrySchedule.reduce((sum, slot) => sum + slot.waitMs, 0);

/** Maximum time from the due time of the first attempt to a retry, even with back-off. */
export const scheduleAgeMaxMs = scheduleSpanMs * (1 + jitterMax) + hourMs;

/**
 * Computes the time of the next attempt after `attemptsMade` attempts. Null if no attempt follows.
 * @param retry.startedAtMs When the first attempt was due.
 * @param retry.retryAfterMs The receiver's Retry-After, honoured up to twice the slot.
 */
export function computeNextAttemptMs(retry: {
  attemptsMade: number;
  startedAtMs: number;
  nowMs: number;
  retryAfterMs: number | null;
  random?: () => number;
}): number | null {
  const slot = retrySchedule[retry.attemptsMade];
  if (!slot) {
    return null;
  }
  const jitteredMs = slot.waitMs * (1 + (retry.random ?? Math.random)() * jitterMax);
  const waitMs = Math.min(
    Math.max(jitteredMs, retry.retryAfterMs ?? 0),
    Math.max(jitteredMs, 2 * slot.waitMs),
  );
  const at = Math.round(retry.nowMs + waitMs);
  return at - retry.startedAtMs > scheduleAgeMaxMs ? null : at;
}
