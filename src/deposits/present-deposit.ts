import { formatIsoTime } from '../shared/iso-time.js';
import type { Deposit } from './deposit.model.js';

/** A deposit in the words of the wire, the same in answers, reports and events (docs/reference/api/deposits.md). */
export function presentDeposit(deposit: Deposit, zone?: string) {
  return {
    ref_id: deposit.refId,
    amount: deposit.amount,
    balance_before: deposit.balanceBefore,
    balance_after: deposit.balanceAfter,
    status: deposit.status,
    timestamp: formatIsoTime(deposit.createdAt, zone),
  };
}
