import type { Deposit } from './deposit.model.js';

/** Interface 2.4, the same in answers, reports and events; `status` is an addition (decisions.md 9). */
export function presentDeposit(deposit: Deposit) {
  return {
    ref_id: deposit.refId,
    amount: deposit.amount,
    balance_before: deposit.balanceBefore,
    balance_after: deposit.balanceAfter,
    status: deposit.status,
    timestamp: deposit.createdAt.toISOString(),
  };
}
