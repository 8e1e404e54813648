/** When our money at a provider is used up, at the pace of the business day. */
import { slotMs } from '../samples/sample.model.js';
import { businessDayOf } from '../shared/business-time.js';
import { now, nowMs } from '../shared/clock.js';
import { floatPace, providerHistories } from './provider-samples.js';

const hourMs = 3_600_000;
/** What ends later than this does not end at today's pace. */
export const floatEndsMaxMs = 90 * 24 * hourMs;
/** Sellers whose hours of a day are read at once. */
const chunk = 60;

/** How long it lasts, in milliseconds, up to 90 days. @param pace Rupiah a millisecond; null: nobody knows yet. */
export function floatLeftMs(float: number, pace: number | null): number {
  return pace ? Math.min(floatEndsMaxMs, Math.max(0, float / pace)) : floatEndsMaxMs;
}

/** What today's figures are made from: five minutes each, of an hour at least. */
export function todayUntil(untilMs: number): { sinceMs: number; untilMs: number } {
  return { sinceMs: Math.min(businessDayOf(now()).startMs, untilMs - hourMs), untilMs };
}

/** By the id of the seller, in rupiah a millisecond; null: it was not told twice today. */
export async function floatPacesOfToday(sellerIds: readonly string[]): Promise<Map<string, number | null>> {
  const found = new Map<string, number | null>();
  for (let at = 0; at < sellerIds.length; at += chunk) {
    const ids = sellerIds.slice(at, at + chunk);
    const histories = await providerHistories(ids, todayUntil(nowMs()), slotMs);
    ids.forEach((id) => found.set(id, floatPace(histories.get(id)?.steps ?? [])));
  }
  return found;
}
