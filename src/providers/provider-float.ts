import { now, nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { int64 } from '../database/typed-collection.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { sampleFloat, computeFloatPace, readProviderHistories } from './provider-metrics.js';
import { providerFloats, ProviderStateModel } from './provider-state.model.js';
import { slotMs } from '../samples/sample.model.js';
import { getBusinessDay } from '../shared/business-time.js';

/** Every order's answer may show the balance; one write in this time is enough. */
const writeEveryMs = 1_000;
const lastWriteMs = new Map<string, number>();

/** Keeps what a provider said our balance there is (rupiah): routing passes by a seller whose float is too low. */
export async function storeFloat(sellerId: string, amount: number): Promise<void> {
  sampleFloat(sellerId, amount);
  await writeAndInvalidate([ProviderStateModel], [sellerId], (states) =>
    states.updateOne({ _id: sellerId }, buildFloatUpdate(amount), { upsert: true }),
  );
}

/**
 * As `storeFloat`, on the way: at most once a second, never waited for, and a failure is only logged. It is not
 * announced: routing looks at floats each second by itself.
 */
export function storeFloatThrottled(sellerId: string, amount: number): void {
  const at = nowMs();
  if (Math.abs(at - (lastWriteMs.get(sellerId) ?? 0)) < writeEveryMs) {
    return;
  }
  lastWriteMs.set(sellerId, at);
  sampleFloat(sellerId, amount);
  providerFloats
    .updateOne({ _id: sellerId }, buildFloatUpdate(amount), { upsert: true })
    .catch((error: unknown) => {
      logger.warn('provider float not stored', { sellerId, error });
    });
}

function buildFloatUpdate(amount: number) {
  return {
    $set: { floatAmount: int64(Math.max(0, amount)), floatAt: now() },
    $setOnInsert: { paused: null },
  };
}

/** When our money at a provider is used up, at the pace of the business day. */

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
