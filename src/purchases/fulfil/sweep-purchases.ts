import { nowMs } from '../../shared/clock.js';
import { queue } from '../../jobs/queues.js';
import { sweepAfter } from './enqueue-purchase.js';
import { notifyPending } from './notify-pending.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';

const sweepMax = 1_000;
const pendingAfterMs = 3_000;

/**
 * Finds purchases that nobody has looked at in time and adds their job again: after a crash between commit and
 * job, a total loss of Redis, or a job that BullMQ gave up on. Any number of sweepers may run at once: the epoch
 * names the job, so that two of them add the same one.
 * @returns how many jobs were added.
 */
export async function sweepPurchases(): Promise<number> {
  const overdue = await PurchaseModel.find(
    { status: { $in: ['PENDING', 'PROCESSING'] }, nextActionAt: { $lte: new Date(nowMs()) } },
    { status: 1, epoch: 1 },
  )
    .limit(sweepMax)
    .lean<Pick<Purchase, '_id' | 'status' | 'epoch'>[]>();
  if (overdue.length === 0) {
    return 0;
  }
  // MongoDB first: should Redis be away, the next sweep comes after the grace, not in a tight loop.
  await PurchaseModel.bulkWrite(
    overdue.map((each) => ({
      updateOne: {
        filter: { _id: each._id, epoch: each.epoch },
        update: { $set: { epoch: each.epoch + 1, nextActionAt: sweepAfter(each.epoch + 1) } },
      },
    })),
    { ordered: false },
  );
  await Promise.all([
    queue('fulfilment').addBulk(jobsOf(overdue, 'PENDING', 'fulfil')),
    queue('polling').addBulk(jobsOf(overdue, 'PROCESSING', 'check')),
  ]);
  return overdue.length;
}

/** Sends `transaction.pending` for purchases that have been waiting for 3 s. */
export async function sweepPendingNotices(): Promise<void> {
  const waiting = await PurchaseModel.find({
    pendingNotified: false,
    createdAt: { $lte: new Date(nowMs() - pendingAfterMs) },
  })
    .limit(sweepMax)
    .lean<Purchase[]>();
  for (const purchase of waiting) {
    // One short database transaction each; a shared one would let one conflict hold up all.
    await notifyPending(purchase);
  }
}

function jobsOf(
  overdue: Pick<Purchase, '_id' | 'status' | 'epoch'>[],
  status: Purchase['status'],
  name: 'fulfil' | 'check',
) {
  return overdue
    .filter((each) => each.status === status)
    .map((each) => ({
      name,
      data: { v: 1 as const, transactionId: each._id },
      opts: { jobId: `${name}-${each._id}-${each.epoch + 1}` },
    }));
}
