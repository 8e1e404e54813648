import { defineScheduledJob } from '../../jobs/sweep-job.js';
import { formatBusinessDay } from '../../shared/business-time.js';
import { nowMs } from '../../shared/clock.js';
import { getShardRange } from '../../database/sharding.js';
import { groupBy } from '../../shared/collections.js';
import { runInTransaction, type Session } from '../../database/mongo.js';
import { buildBase } from './write-totals.js';
import { addToCounters, flattenCounters, type Counters } from './counters.js';
import { getSlotRange } from './slots.js';
import { dailyTotals, getTotalsId } from './daily-totals.model.js';

export const foldTotalsJob = defineScheduledJob('fold-totals', 600_000);

const dayMs = 86_400_000;
const slotBatchSize = 500;
const slotFilter = { slot: { $gte: 0 } };

/**
 * Folds the slots of days before yesterday into their bases, so that each day is one document. By
 * then even most sales made just before midnight are final. If a slot is updated concurrently, the two writes
 * conflict and one of them is retried. The sum of a day never changes.
 */
export async function foldTotals(): Promise<void> {
  const yesterday = formatBusinessDay(new Date(nowMs() - dayMs));
  for (;;) {
    const slots = await dailyTotals
      .find({ ...slotFilter, day: { $lt: yesterday } })
      .project<{ accountId: string; day: string }>({ _id: 0, accountId: 1, day: 1 })
      .sort({ day: 1, accountId: 1 })
      .limit(slotBatchSize)
      .toArray();
    const day = slots[0]?.day;
    if (day === undefined) {
      return;
    }
    const accountIds = [...new Set(slots.filter((each) => each.day === day).map((each) => each.accountId))];
    for (const own of groupBy(accountIds, getShardRange).values()) {
      await runInTransaction((session) => foldDay(session, day, own));
    }
  }
}

async function foldDay(session: Session, day: string, accountIds: string[]): Promise<void> {
  const slots = await dailyTotals
    .find({ ...slotFilter, day, accountId: { $in: accountIds } }, { session })
    .toArray();
  const bases = await dailyTotals
    .find(
      {
        _id: { $in: accountIds.map((id) => getTotalsId(id, day, null)) },
        slot: null,
        accountId: { $in: accountIds },
      },
      { session },
    )
    .toArray();
  const sums = new Map<string, Counters>();
  for (const { accountId, counters } of [...slots, ...bases]) {
    const sum = sums.get(accountId) ?? new Map<string, number>();
    addToCounters(sum, flattenCounters(counters));
    sums.set(accountId, sum);
  }
  if (sums.size > 0) {
    await dailyTotals.bulkWrite(
      [
        ...[...sums].map(([accountId, sum]) => ({
          replaceOne: {
            filter: { _id: getTotalsId(accountId, day, null), slot: null, accountId },
            replacement: buildBase(accountId, day, sum),
            upsert: true,
          },
        })),
        ...[...groupBy(slots, ({ slot }) => getSlotRange(slot ?? 0)).values()].map((some) => ({
          deleteMany: {
            filter: {
              _id: { $in: some.map((each) => each._id) },
              slot: { $in: [...new Set(some.map((each) => each.slot))] },
              accountId: { $in: accountIds },
            },
          },
        })),
      ],
      { session },
    );
  }
}
