import { now, nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { int64 } from '../database/money-type.js';
import { writeAndInvalidate } from '../redis/changing.js';
import { sampleFloat } from './provider-samples.js';
import { providerFloats, ProviderStateModel } from './provider-state.model.js';

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
