import { env, type Env } from '../../config/env.js';
import { nowMs } from '../shared/clock.js';
import type { ProviderOrder, ProviderOutcome, ProviderTraits } from './adapter.js';

/** Milliseconds between status checks. The last interval repeats. */
const intervalsMs: Record<Env['APP_MODE'], readonly [number, ...number[]]> = {
  sandbox: [1_000, 2_000, 4_000, 8_000, 10_000],
  live: [5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000],
};
/**
 * Maximum jitter as a share of the interval. It spreads the checks of orders that became unknown at
 * the same time.
 */
const jitterMax = 0.1;

export interface PollState {
  sentAt: Date;
  /** Number of status checks so far. */
  checks: number;
  /** Time of the last status check. Null before the first. */
  lastCheckAt: Date | null;
}

/**
 * Returns when to check an order's status next (docs/explanation/routing.md#schedules). This is
 * `intervals[checks]` after the last contact, plus up to 10 %, but at least the provider's minimum
 * interval.
 *
 * Null if the order must not be checked again, because the provider may have forgotten it. The
 * operator decides then.
 * @param random Returns a number in [0, 1).
 */
export function getNextPollAt(
  state: PollState,
  traits: Pick<ProviderTraits, 'inquiryMinIntervalMs' | 'inquiryMaxAgeMs'>,
  { mode = env.APP_MODE, random = Math.random }: { mode?: Env['APP_MODE']; random?: () => number } = {},
): Date | null {
  const intervals = intervalsMs[mode];
  const plannedMs = intervals[Math.min(state.checks, intervals.length - 1)] ?? intervals[0];
  const intervalMs = Math.max(plannedMs, traits.inquiryMinIntervalMs);
  const lastContactMs = (state.lastCheckAt ?? state.sentAt).getTime();
  const atMs = lastContactMs + Math.round(intervalMs * (1 + jitterMax * random()));
  return atMs > state.sentAt.getTime() + traits.inquiryMaxAgeMs ? null : new Date(atMs);
}

/**
 * Returns the outcome that replaces a status check that must not be sent. A check of an order that
 * is too old could buy again. A check too soon after the last contact could race with it. Null if
 * the check may be sent.
 */
export function findCheckRefusal(
  order: Pick<ProviderOrder, 'sentAt' | 'lastCheckAt'>,
  traits: Pick<ProviderTraits, 'inquiryMinIntervalMs' | 'inquiryMaxAgeMs'>,
): ProviderOutcome | null {
  const { sentAt, lastCheckAt } = order;
  if (sentAt && nowMs() - sentAt.getTime() > traits.inquiryMaxAgeMs) {
    return { outcome: 'review', code: 'TOO_OLD', message: 'Too old for a status check' };
  }
  const lastContact = lastCheckAt ?? sentAt;
  if (lastContact && nowMs() - lastContact.getTime() < traits.inquiryMinIntervalMs) {
    return { outcome: 'unknown', code: 'TOO_SOON', message: 'Checked a moment ago' };
  }
  return null;
}
