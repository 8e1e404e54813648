import { AdjustmentModel, type Adjustment } from './adjustment.model.js';

/** Lists adjustments, newest first (indexes `status_newest`, `account_newest_id`, `newest`). */
export async function listAdjustments(filter: {
  status?: Adjustment['status'];
  accountId?: string;
  limit: number;
}): Promise<Adjustment[]> {
  const { status, accountId, limit } = filter;
  return AdjustmentModel.find({
    ...(status !== undefined && { status }),
    ...(accountId !== undefined && { accountId }),
  })
    .sort({ createdAt: -1 })
    .limit(limit)
    .readConcern('majority')
    .lean<Adjustment[]>();
}

/** Lists adjustments that wait for a second operator, oldest first (index `status_newest`). */
export async function listPendingAdjustments(limit: number): Promise<Adjustment[]> {
  return AdjustmentModel.find({ status: 'pending' }).sort({ createdAt: 1 }).limit(limit).lean<Adjustment[]>();
}
