import { computePlatformShare, getSellerPrice } from '../../money/commission.js';
import type { LedgerFinding } from './ledger-report.js';
import type { KnownPurchase, ReadCredit, ReadPurchase, ReadOrder } from './stored-documents.js';
import type { Subject } from './subject.js';
import { isFinal } from '../../purchases/states.js';
import type { Order } from '../../purchases/order.model.js';

/**
 * Checks that each sale credits its seller once with the price minus the commission, and that a
 * reversal takes the same amount back.
 */
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
    problems.push(`seller credit ${_id} belongs to ${transactionId}`);
  }
  if (status !== null && (status === 'posted') !== (postingId !== null)) {
    problems.push(`seller credit ${_id} is ${status} and names posting ${postingId ?? 'none'}`);
  }
  return problems;
}

/**
 * Checks the commission against the order's rate, because all other documents could contain the
 * same error.
 */
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

const openStatuses: readonly (Order['status'] | null)[] = ['SENT', 'UNKNOWN'];

/**
 * Checks rule 4 of docs/explanation/ledger.md#rules: a purchase never has two open orders, and no
 * order costs more than the debited price.
 */
export function checkOrders(purchase: ReadPurchase, orders: readonly ReadOrder[]): LedgerFinding[] {
  const problems = [
    ...checkOpen(purchase, orders),
    ...checkBought(purchase, orders),
    ...checkSent(purchase, orders),
    ...orders.flatMap((order, index) => checkOrder(purchase, order, index + 1)),
  ];
  return problems.map((message) => ({
    check: 'attempts',
    subject: `transaction ${purchase._id}`,
    message,
  }));
}

function checkOpen({ status }: ReadPurchase, orders: readonly ReadOrder[]): string[] {
  const problems: string[] = [];
  const open = orders.filter((each) => each.open);
  const [first] = open;
  if (open.length > 1) {
    problems.push(`${open.length} attempts are open`);
  }
  if (status !== null && isFinal(status) && first) {
    problems.push(`it is ${status} and attempt ${first.n} is still open`);
  }
  if (status === 'PENDING' && first) {
    problems.push(`it is PENDING and attempt ${first.n} is ${first.status ?? 'in an unknown state'}`);
  }
  return problems;
}

function checkBought(purchase: ReadPurchase, orders: readonly ReadOrder[]): string[] {
  const { status, serialNumber } = purchase;
  const bought = orders.filter((each) => each.status === 'OK');
  const [order] = bought;
  if (isSold(purchase) && bought.length !== 1) {
    return [`it is ${status ?? ''} and ${bought.length} attempts were bought, expected 1`];
  }
  if (status !== null && !isSold(purchase) && order) {
    return [`it is ${status} and attempt ${order.n} was bought`];
  }
  // The serial number is stored twice, so that an edit of one copy is detected.
  return order && order.serialNumber !== serialNumber
    ? [`its serial number differs from that of attempt ${order.n}, which was bought`]
    : [];
}

/**
 * Checks seller and version. A purchase names the seller of its last order. A successful purchase
 * names the seller of the successful order, which an operator may have determined.
 *
 * The version increases with each sent order and each change to a final state, so a deleted or
 * forged order is detected.
 */
function checkSent(purchase: ReadPurchase, orders: readonly ReadOrder[]): string[] {
  const { status, sellerId, version } = purchase;
  const sent = orders.filter((each) => each.sentAt !== null);
  const last = sent.at(-1);
  const bought = isSold(purchase) ? orders.find((each) => each.status === 'OK') : undefined;
  const problems: string[] = [];
  if (((bought ?? last)?.sellerId ?? null) !== sellerId) {
    const went = bought
      ? `attempt ${bought.n}, which was bought, went to ${bought.sellerId}`
      : last
        ? `the last attempt went to ${last.sellerId}`
        : 'no attempt went to a seller';
    problems.push(`it names seller ${sellerId ?? 'none'}, ${went}`);
  }
  if (status !== null) {
    const concluded = status === 'REFUNDED' ? 2 : isFinal(status) ? 1 : 0;
    const sendings = version - concluded;
    if (sendings !== sent.length) {
      problems.push(`its version implies ${sendings} sent attempts, but ${sent.length} are stored`);
    }
  }
  return problems;
}

function checkOrder(purchase: ReadPurchase, order: ReadOrder, n: number): string[] {
  const problems: string[] = [];
  if (order.n !== n || order._id !== `${purchase._id}-${n}`) {
    problems.push(`attempt ${order._id} is number ${order.n}, expected ${purchase._id}-${n}`);
  }
  if (order.status !== null && order.open !== openStatuses.includes(order.status)) {
    problems.push(`attempt ${order.n} is ${order.status} and marked ${order.open ? 'open' : 'closed'}`);
  }
  const sellerPrice = getSellerPrice(purchase);
  if (order.offerPrice > sellerPrice) {
    const what = purchase.markup === null ? 'debited' : 'debited without the markup';
    problems.push(`attempt ${order.n} costs ${order.offerPrice}, more than the ${sellerPrice} ${what}`);
  }
  return problems;
}
