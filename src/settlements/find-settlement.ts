import { findConfirmed } from '../database/find-confirmed.js';
import { NotFoundError } from '../shared/errors.js';
import { say } from '../shared/say.js';
import { settlements, type Settlement, SettlementModel, type SettlementStatus } from './settlement.model.js';
import { findDocumentPage } from '../database/document-page.js';

/**
 * Finds a settlement and confirms it with a majority, because callers report "paid already", which
 * must survive a failover.
 * @param accountId The seller's account. If it is null, every shard is queried.
 * @throws NotFoundError if there is no settlement with this id.
 */
export async function requireSettlement(
  settlementId: string,
  accountId: string | null = null,
): Promise<Settlement> {
  const owner = accountId === null ? {} : { accountId };
  const [settlement] = await findConfirmed(settlements, { _id: settlementId, ...owner });
  if (!settlement) {
    throw new NotFoundError(say('noSettlement', { id: settlementId }));
  }
  return settlement;
}

const waitingStatuses: readonly SettlementStatus[] = ['pending', 'processing'];

/**
 * Lists settlements for operators, oldest first: those of one account (`account_newest_id`), or the
 * open ones of all accounts (`status_next_action`). `findDocumentPage` lists the final ones of all
 * accounts, because their number is unbounded.
 */
export async function listSettlements(query: {
  statuses: SettlementStatus[];
  accountId?: string;
  limit: number;
}): Promise<Settlement[]> {
  const { statuses, accountId, limit } = query;
  if (accountId === undefined && !statuses.every((status) => waitingStatuses.includes(status))) {
    const fits = ({ status }: Settlement) => statuses.includes(status);
    return (await findDocumentPage(settlements, { fits }, { limit })).found;
  }
  return SettlementModel.find({ ...(accountId !== undefined && { accountId }), status: { $in: statuses } })
    .sort({ createdAt: 1 })
    .limit(limit)
    .readConcern('majority')
    .lean<Settlement[]>();
}
