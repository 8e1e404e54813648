/** When our money at a provider is used up, at the pace of the business day. */
import { slotMs } from '../samples/sample.model.js';
import { getBusinessDay } from '../shared/business-time.js';
import { now, nowMs } from '../shared/clock.js';
import { computeFloatPace, readProviderHistories } from './provider-samples.js';

const hourMs = 3_600_000;
/** What ends later than this does not end at today's pace. */
export const floatEndsMaxMs = 90 * 24 * hourMs;
/** Sellers whose hours of a day are read at once. */
const sellersPerRead = 60;

/** How long it lasts, in milliseconds, up to 90 days. @param pace Rupiah a millisecond; null: nobody knows yet. */
export function getFloatLeftMs(float: number, pace: number | null): number {
  return pace ? Math.min(floatEndsMaxMs, Math.max(0, float / pace)) : floatEndsMaxMs;
}

/** What today's figures are made from: five minutes each, of an hour at least. */
export function getTodaySpan(untilMs: number): { sinceMs: number; untilMs: number } {
  return { sinceMs: Math.min(getBusinessDay(now()).startMs, untilMs - hourMs), untilMs };
}

/** By the id of the seller, in rupiah a millisecond; null: it was not told twice today. */
export async function readFloatPacesToday(sellerIds: readonly string[]): Promise<Map<string, number | null>> {
  const found = new Map<string, number | null>();
  for (let at = 0; at < sellerIds.length; at += sellersPerRead) {
    const ids = sellerIds.slice(at, at + sellersPerRead);
    const histories = await readProviderHistories(ids, getTodaySpan(nowMs()), slotMs);
    ids.forEach((id) => found.set(id, computeFloatPace(histories.get(id)?.steps ?? [])));
  }
  return found;
}
