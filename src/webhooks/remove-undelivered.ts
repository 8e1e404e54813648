import { collectChunks } from '../shared/in-chunks.js';
import { deliveries } from './delivery.model.js';
import { webhookLimits } from './webhook-limits.js';

/** The most of each state that one run removes; the next run goes on. */
const runMax = 10_000;
const atOnce = 500;

/**
 * Removes deliveries that were given up or held longer ago than `undeliveredKeptMs`. Delivered ones MongoDB removes by
 * itself (`expireAt`). Safe to run twice and by several at once: one that is sent again meanwhile stays.
 * @param nowMs By the clock of the fleet: what is removed does not come back.
 * @returns how many.
 */
export async function removeUndelivered(nowMs: number): Promise<number> {
  const settledAt = { $lt: new Date(nowMs - webhookLimits.undeliveredKeptMs) };
  let removed = 0;
  for (const state of ['dead', 'held'] as const) {
    const source = deliveries
      .find({ state, settledAt })
      .project<{ _id: string; accountId: string }>({ accountId: 1 })
      .sort({ settledAt: 1 })
      .limit(runMax);
    for await (const chunk of collectChunks(source, atOnce)) {
      const { deletedCount } = await deliveries.deleteMany({
        _id: { $in: chunk.map(({ _id }) => _id) },
        accountId: { $in: [...new Set(chunk.map(({ accountId }) => accountId))] },
        state,
        settledAt,
      });
      removed += deletedCount;
    }
  }
  return removed;
}
