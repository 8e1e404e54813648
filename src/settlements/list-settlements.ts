import { pageOfDocuments } from '../database/page-of-documents.js';
import { SettlementModel, settlements, type Settlement, type SettlementStatus } from './settlement.model.js';

const waiting: readonly SettlementStatus[] = ['pending', 'processing'];

/**
 * Settlements for the operator: of an account the oldest first (account_newest_id), of everybody what waits, the longest
 * waiting first (status_next_action). What has ended grows without end: of everybody the newest first, by pageOfDocuments.
 */
export async function listSettlements(query: {
  statuses: SettlementStatus[];
  accountId?: string;
  limit: number;
}): Promise<Settlement[]> {
  const { statuses, accountId, limit } = query;
  if (accountId === undefined && !statuses.every((status) => waiting.includes(status))) {
    const fits = ({ status }: Settlement) => statuses.includes(status);
    return (await pageOfDocuments(settlements, { fits }, { limit })).found;
  }
  return SettlementModel.find({ ...(accountId !== undefined && { accountId }), status: { $in: statuses } })
    .sort({ createdAt: 1 })
    .limit(limit)
    .readConcern('majority')
    .lean<Settlement[]>();
}
