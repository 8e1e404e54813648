import { nowMs } from '../../shared/clock.js';
import { PurchaseModel, type Purchase } from '../purchase.model.js';
import { notifyPending } from './notify-pending.js';

const sweepMax = 1_000;
const pendingAfterMs = 3_000;
/** Each is a database transaction of its own; so many at once keep one slow one from holding up the rest. */
const atOnce = 10;

/** Sends `transaction.pending` for purchases that have been waiting for 3 s. */
export async function sweepPendingNotices(): Promise<void> {
  const waiting = await PurchaseModel.find({
    pendingNotified: false,
    createdAt: { $lte: new Date(nowMs() - pendingAfterMs) },
  })
    .limit(sweepMax)
    .lean<Purchase[]>();
  for (let from = 0; from < waiting.length; from += atOnce) {
    await Promise.all(waiting.slice(from, from + atOnce).map(notifyPending));
  }
}
