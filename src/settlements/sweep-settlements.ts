import { now } from '../shared/clock.js';
import { enqueueSettlement, settlementSweepAt } from './request-settlement.js';
import { SettlementModel, type Settlement } from './settlement.model.js';

/** Adds the job again of settlements that nobody has looked at in time; see sweep-purchases.ts. */
export async function sweepSettlements(): Promise<void> {
  const overdue = await SettlementModel.find({
    status: { $in: ['pending', 'processing'] },
    nextActionAt: { $lte: now() },
  })
    .limit(1_000)
    .lean<Settlement[]>();
  if (overdue.length === 0) {
    return;
  }
  await SettlementModel.bulkWrite(
    overdue.map((each) => ({
      updateOne: {
        filter: { _id: each._id, epoch: each.epoch },
        update: { $set: { epoch: each.epoch + 1, nextActionAt: settlementSweepAt() } },
      },
    })),
    { ordered: false },
  );
  await Promise.all(overdue.map((each) => enqueueSettlement({ ...each, epoch: each.epoch + 1 })));
}
