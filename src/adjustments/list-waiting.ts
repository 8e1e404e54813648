import { AdjustmentModel, type Adjustment } from './adjustment.model.js';

/** Adjustments that wait for a second operator, the longest waiting first (index status_newest). */
export async function listPendingAdjustments(limit: number): Promise<Adjustment[]> {
  return AdjustmentModel.find({ status: 'pending' }).sort({ createdAt: 1 }).limit(limit).lean<Adjustment[]>();
}
