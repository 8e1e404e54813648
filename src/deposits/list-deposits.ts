import { DepositModel, type Deposit } from './deposit.model.js';

export interface DepositFilter {
  status?: Deposit['status'];
  accountId?: string;
  limit: number;
}

/** Deposits for the operator: those of one account newest first, otherwise the longest waiting first. */
export async function listDeposits(filter: DepositFilter): Promise<Deposit[]> {
  // Ids rise with time: no index has all deposits by their creation.
  const oldestFirst = filter.status ? ({ createdAt: 1 } as const) : ({ _id: 1 } as const);
  return DepositModel.find({
    ...(filter.accountId && { accountId: filter.accountId }),
    ...(filter.status && { status: filter.status }),
  })
    .sort(filter.accountId ? { createdAt: -1 } : oldestFirst)
    .limit(filter.limit)
    .readConcern('majority')
    .lean<Deposit[]>();
}
