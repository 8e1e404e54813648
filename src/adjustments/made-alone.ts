import type { Bar } from '../money/posting/posting.js';
import { AdjustmentModel, adjustments, type Adjustment } from './adjustment.model.js';

const windowMs = 86_400_000;

/** What an operator has made of an account without a second one, in the 24 hours up to a moment. */
export interface UnapprovedAdjustments {
  /** Rupiah, credits and debits alike: one does not take back that the other was made. */
  sum: number;
  /** Of another one: those that were made after this was read. With one of them the sum is not what it was. */
  barOf: (adjustmentId: string) => Bar;
}

/**
 * Those that wait or were rejected have moved nothing, and those that another operator has approved were looked at. One of a
 * later moment counts too: a clock that is behind must not forget it.
 */
export async function findUnapprovedAdjustments(
  accountId: string,
  actor: string,
  at: Date,
): Promise<UnapprovedAdjustments> {
  const own = {
    accountId,
    requestedBy: actor,
    status: 'completed' as const,
    decidedBy: null,
    createdAt: { $gt: new Date(at.getTime() - windowMs) },
  };
  // Neither account nor creation changes, so each is summed once; what completes later is barred.
  const made = await AdjustmentModel.find(own, { amount: 1 }).lean<Pick<Adjustment, '_id' | 'amount'>[]>();
  return {
    sum: made.reduce((sum, { amount }) => sum + Math.abs(amount), 0),
    barOf: (adjustmentId) => ({
      collection: adjustments.collectionName,
      rivals: `${accountId} ${actor}`,
      filter: { ...own, _id: { $nin: [adjustmentId, ...made.map(({ _id }) => _id)] as never[] } },
    }),
  };
}
