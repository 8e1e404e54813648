import { DepositModel, type Deposit } from './deposit.model.js';

export interface DepositFilter {
  status?: Deposit['status'];
  accountId?: string;
  limit: number;
}

/** Deposits for the operator: those of one account newest first, otherwise the longest waiting first. */
export async function listDeposits(filter: DepositFilter): Promise<Deposit[]> {
  return DepositModel.find({
    ...(filter.accountId && { accountId: filter.accountId }),
    ...(filter.status && { status: filter.status }),
  })
    .sort({ createdAt: filter.accountId ? -1 : 1 })
    .limit(filter.limit)
    .lean<Deposit[]>();
}
