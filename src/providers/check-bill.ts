import type { BillOutcome, ProviderBill } from './adapter.js';

/** Code of a bill whose amounts contradict each other. Such a bill is not sold. */
export const unsellableBillCode = 'BILL_AMOUNT';

/** A larger total is a mistake of the provider. Penalties that are no part may raise it up to here. */
const totalToPartsMax = 2;

/** A bill with the rupiah that the provider takes for it. Null if the provider does not say. */
type PricedBill = ProviderBill & { cost: number | null };

/**
 * Returns the bill as it may be sold, or why it may not.
 *
 * Invariant: no bill is sold below the provider's cost. If the suggested total is lower, the buyer
 * pays the cost, and the biller's amount is the cost without the admin fee.
 */
export function toSellableBill({ cost, ...bill }: PricedBill): BillOutcome {
  if (bill.totalBill < 0 || bill.adminFee < 0) {
    return refuse(`it is ${bill.totalBill} rupiah without the admin fee of ${bill.adminFee}`);
  }
  const isBelowCost = cost !== null && cost > bill.totalAmount;
  const totalAmount = isBelowCost ? cost : bill.totalAmount;
  const totalBill = isBelowCost ? cost - bill.adminFee : bill.totalBill;
  if (totalAmount <= 0) {
    return refuse('it has no amount');
  }
  if (totalBill < 0 || totalAmount < totalBill + bill.adminFee) {
    return refuse(`its total of ${totalAmount} rupiah is less than its parts`);
  }
  if (totalAmount > totalToPartsMax * (totalBill + bill.adminFee)) {
    return refuse(`its total of ${totalAmount} rupiah is more than twice its parts`);
  }
  return { outcome: 'bill', bill: { ...bill, totalBill, totalAmount } };
}

function refuse(why: string): BillOutcome {
  return {
    outcome: 'unavailable',
    code: unsellableBillCode,
    message: `The provider's bill cannot be sold: ${why}`,
  };
}
