import { DepositModel, type Deposit } from './deposit.model.js';
import { PaymentModel, type Payment } from './payment.model.js';

export interface DepositFilter {
  status?: Deposit['status'];
  accountId?: string;
  limit: number;
}

/**
 * Lists deposits for operators. Deposits of one account are newest first; those of all accounts are
 * oldest first.
 */
export async function listDeposits(filter: DepositFilter): Promise<Deposit[]> {
  // Sort by id, which rises with time, because no index covers all deposits by creation time.
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

/** Lists payments from notifications, newest first. */
export async function listPayments(filter: {
  status?: Payment['status'];
  limit: number;
}): Promise<Payment[]> {
  return PaymentModel.find(filter.status ? { status: filter.status } : {})
    .sort({ createdAt: -1 })
    .limit(filter.limit)
    .readConcern('majority')
    .lean<Payment[]>();
}
