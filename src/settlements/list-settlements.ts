import { SettlementModel, type Settlement, type SettlementStatus } from './settlement.model.js';

/** Settlements for the operator, the longest waiting first (index status_next_action; account_newest_id of one account). */
export async function listSettlements(query: {
  statuses: SettlementStatus[];
  accountId?: string;
  limit: number;
}): Promise<Settlement[]> {
  return SettlementModel.find({
    ...(query.accountId !== undefined && { accountId: query.accountId }),
    status: { $in: query.statuses },
  })
    .sort({ createdAt: 1 })
    .limit(query.limit)
    .lean<Settlement[]>();
}
