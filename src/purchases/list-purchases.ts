import { periodOf } from '../shared/business-time.js';
import { PurchaseModel, type Purchase, type PurchaseStatus } from './purchase.model.js';

export interface HistoryQuery {
  owner: { accountId: string } | { sellerId: string };
  status?: 'pending' | 'processing' | 'success' | 'failed' | undefined;
  startDate?: string | undefined;
  endDate?: string | undefined;
  page: number;
  limit: number;
}

/** What each filter word of docs/interface.md#history stands for. */
export const statusesOf: Record<NonNullable<HistoryQuery['status']>, PurchaseStatus[]> = {
  pending: ['PENDING'],
  processing: ['PROCESSING'],
  success: ['SUCCESS'],
  failed: ['FAILED', 'REFUNDED'],
};

/**
 * One page of a buyer's or seller's history, newest first, and how many there are in all. A page past the last
 * is empty. Served by the account_newest / account_status_newest indexes (seller_* for sellers).
 * @throws ValidationError for an impossible period.
 */
export async function listTransactions(
  query: HistoryQuery,
): Promise<{ purchases: Purchase[]; total: number }> {
  const period = periodOf(query.startDate, query.endDate);
  const filter = {
    ...query.owner,
    ...(query.status && { status: { $in: statusesOf[query.status] } }),
    createdAt: { $gte: period.start, $lte: period.end },
  };
  const [purchases, total] = await Promise.all([
    PurchaseModel.find(filter)
      .sort({ createdAt: -1, _id: -1 })
      .skip((query.page - 1) * query.limit)
      .limit(query.limit)
      .lean<Purchase[]>(),
    PurchaseModel.countDocuments(filter),
  ]);
  return { purchases, total };
}
