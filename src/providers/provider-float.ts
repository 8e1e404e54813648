import { now, nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { toInt64 } from '../database/typed-collection.js';
import { writeAndInvalidate } from '../redis/publish-changes.js';
import { sampleFloat, computeFloatBurnRate, readProviderHistories } from './provider-metrics.js';
import { providerFloats, ProviderStateModel } from './provider-state.model.js';
import { slotMs } from '../samples/sample.model.js';
import { getBusinessDay } from '../shared/business-time.js';

/**
 * Minimum milliseconds between two writes for a seller, because the response to any order may
 * contain the balance.
 */
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
 * Like `storeFloat`, for use while an order is processed. It writes at most once a second, is not
 * awaited, and only logs a failure. It sends no cache invalidation, because routing reads floats
 * again every second.
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
    $set: { floatAmount: toInt64(Math.max(0, amount)), floatAt: now() },
    $setOnInsert: { paused: null },
  };
}

const hourMs = 3_600_000;
/** Maximum in milliseconds. A float that would last longer is not considered to run out. */
export const floatEndsMaxMs = 90 * 24 * hourMs;
/** Number of sellers whose histories of today are read together. */
const sellersPerRead = 60;

/**
 * Returns how many milliseconds a float lasts if it decreases at this pace, at most 90 days.
 * @param pace Rupiah per millisecond. Null if unknown.
 */
export function getFloatLeftMs(float: number, pace: number | null): number {
  return pace ? Math.min(floatEndsMaxMs, Math.max(0, float / pace)) : floatEndsMaxMs;
}

/**
 * Returns the span for today's figures. It starts with the business day, but is at least one hour
 * long.
 */
export function getTodaySpan(untilMs: number): { sinceMs: number; untilMs: number } {
  return { sinceMs: Math.min(getBusinessDay(now()).startMs, untilMs - hourMs), untilMs };
}

/**
 * Returns by seller id how fast each float decreases today, in rupiah per millisecond. Null if
 * there are fewer than two readings today.
 */
export async function readTodaysFloatBurnRates(
  sellerIds: readonly string[],
): Promise<Map<string, number | null>> {
  const found = new Map<string, number | null>();
  for (let at = 0; at < sellerIds.length; at += sellersPerRead) {
    const ids = sellerIds.slice(at, at + sellersPerRead);
    const histories = await readProviderHistories(ids, getTodaySpan(nowMs()), slotMs);
    ids.forEach((id) => found.set(id, computeFloatBurnRate(histories.get(id)?.steps ?? [])));
  }
  return found;
}
