import { AdjustmentModel, type Adjustment } from './adjustment.model.js';

/** Adjustments, newest first (index status_newest; account_newest_id of one account; newest of all). */
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
