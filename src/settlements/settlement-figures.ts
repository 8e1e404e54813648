import type { Settlement } from './settlement.model.js';

/** What answers and events both tell of a settlement first (docs/reference/api/settlements.md); `ref_id` is an addition. */
export function presentSettlementFigures(
  settlement: Pick<Settlement, '_id' | 'refId' | 'amount' | 'fee' | 'netAmount'>,
) {
  return {
    settlement_id: settlement._id,
    ref_id: settlement.refId,
    amount: settlement.amount,
    fee: settlement.fee,
    net_amount: settlement.netAmount,
  };
}
