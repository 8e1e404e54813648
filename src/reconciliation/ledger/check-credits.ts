import { computePlatformShare, getSellerPrice } from '../../money/commission.js';
import type { LedgerFinding } from './ledger-report.js';
import type { KnownPurchase, ReadCredit, ReadPurchase } from './stored.js';
import type { Subject } from './subject.js';

/** Each sale credits its seller once, at the price less the commission; a reversal takes the same back. */
export function checkCredits(purchase: KnownPurchase, { credits }: Subject): LedgerFinding[] {
  const net = purchase.price - (purchase.commissionAmount ?? 0);
  const expected = new Map<string, number>();
  if (isSold(purchase)) {
    expected.set(purchase._id, net);
  }
  if (purchase.status === 'REFUNDED') {
    expected.set(`${purchase._id}-reversal`, -net);
  }
  const problems = [...expected.keys()]
    .filter((id) => !credits.some((credit) => credit._id === id))
    .map((id) => `the seller credit ${id} is missing`);
  for (const credit of credits) {
    const amount = expected.get(credit._id);
    if (amount === undefined) {
      problems.push(`it is ${purchase.status} and has a seller credit ${credit._id}`);
    } else if (credit.amount !== amount || credit.sellerId !== purchase.sellerId) {
      problems.push(
        `seller credit ${credit._id} gives ${credit.amount} to ${credit.sellerId}, expected ${amount} to ${purchase.sellerId ?? 'none'}`,
      );
    }
    problems.push(...checkCredit(purchase, credit));
  }
  return problems.map((message) => ({
    check: 'seller-credits',
    subject: `transaction ${purchase._id}`,
    message,
  }));
}

function checkCredit(
  purchase: ReadPurchase,
  { _id, transactionId, status, postingId }: ReadCredit,
): string[] {
  const problems: string[] = [];
  if (transactionId !== purchase._id) {
    problems.push(`seller credit ${_id} is of ${transactionId}`);
  }
  if (status !== null && (status === 'posted') !== (postingId !== null)) {
    problems.push(`seller credit ${_id} is ${status} and names posting ${postingId ?? 'none'}`);
  }
  return problems;
}

/** The one number that purchase, journal and credit could agree on and still be wrong: it follows from the order. */
export function checkCommission(purchase: KnownPurchase, { orders }: Subject): LedgerFinding[] {
  const bought = orders.find((each) => each.status === 'OK');
  if (
    !isSold(purchase) ||
    !bought ||
    !Number.isSafeInteger(getSellerPrice(purchase)) ||
    Number.isNaN(bought.commissionRate)
  ) {
    return [];
  }
  const expected = computePlatformShare(purchase, bought.commissionRate);
  const { commissionAmount } = purchase;
  return commissionAmount === expected
    ? []
    : [
        {
          check: 'seller-credits',
          subject: `transaction ${purchase._id}`,
          message: `its commission is ${commissionAmount ?? 'none'}, at the rate ${bought.commissionRate} of attempt ${bought.n} it is ${expected}`,
        },
      ];
}

export function isSold({ status }: ReadPurchase): boolean {
  return status === 'SUCCESS' || status === 'REFUNDED';
}
