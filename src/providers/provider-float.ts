import { now, nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { int64 } from '../database/typed-collection.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { sampleFloat, computeFloatPace, readProviderHistories } from './provider-metrics.js';
import { providerFloats, ProviderStateModel } from './provider-state.model.js';
import { slotMs } from '../samples/sample.model.js';
import { getBusinessDay } from '../shared/business-time.js';

/** Milliseconds between writes per seller. The answer of any order may contain the balance. */
const writeEveryMs = 1_000;
const lastWriteMs = new Map<string, number>();

/** Stores our balance at a provider, in rupiah. Routing skips sellers whose float is too low. */
export async function storeFloat(sellerId: string, amount: number): Promise<void> {
  sampleFloat(sellerId, amount);
  await writeAndInvalidate([ProviderStateModel], [sellerId], (states) =>
    states.updateOne({ _id: sellerId }, buildFloatUpdate(amount), { upsert: true }),
  );
}

/**
 * Like `storeFloat`, for use while an order is processed: at most one write a second, not awaited,
 * and a failure is only logged. Sends no invalidation, because routing rereads floats every second.
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

const hourMs = 3_600_000;
/** Milliseconds. A float that lasts longer counts as not ending. */
export const floatEndsMaxMs = 90 * 24 * hourMs;
/** Sellers whose histories of today are read together. */
const sellersPerRead = 60;

/**
 * Returns how long a float lasts at this pace, in milliseconds, at most 90 days.
 * @param pace Rupiah per millisecond; null: unknown.
 */
export function getFloatLeftMs(float: number, pace: number | null): number {
  return pace ? Math.min(floatEndsMaxMs, Math.max(0, float / pace)) : floatEndsMaxMs;
}

/** Returns the span of today's figures: the business day, and at least one hour. */
export function getTodaySpan(untilMs: number): { sinceMs: number; untilMs: number } {
  return { sinceMs: Math.min(getBusinessDay(now()).startMs, untilMs - hourMs), untilMs };
}

/**
 * Returns today's pace of each float in rupiah per millisecond, by seller id. Null: fewer than two
 * readings today.
 */
export async function readFloatPacesToday(sellerIds: readonly string[]): Promise<Map<string, number | null>> {
  const found = new Map<string, number | null>();
  for (let at = 0; at < sellerIds.length; at += sellersPerRead) {
    const ids = sellerIds.slice(at, at + sellersPerRead);
    const histories = await readProviderHistories(ids, getTodaySpan(nowMs()), slotMs);
    ids.forEach((id) => found.set(id, computeFloatPace(histories.get(id)?.steps ?? [])));
  }
  return found;
}
