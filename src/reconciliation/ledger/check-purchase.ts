import { isFinal } from '../../purchases/states.js';
import type { Purchase, PurchaseStatus } from '../../purchases/purchase.model.js';
import type { JournalKind, JournalLine } from '../../money/journals/journal.model.js';
import { checkOrders } from './check-orders.js';
import { checkMovement } from './check-journal.js';
import type { LedgerFinding } from './ledger-report.js';
import type { Subject } from './subject.js';

/** docs/money.md#what-one-database-transaction-writes: the journals that a state must have, and no others. */
const journalsOf: Record<PurchaseStatus, readonly JournalKind[]> = {
  PENDING: ['purchase'],
  PROCESSING: ['purchase'],
  SUCCESS: ['purchase', 'success'],
  FAILED: ['purchase', 'refund'],
  REFUNDED: ['purchase', 'success', 'reversal'],
};

/** A purchase against its journals, orders and seller credits. */
export function checkPurchase(purchase: Purchase, subject: Subject): LedgerFinding[] {
  return [
    ...checkJournals(purchase, subject),
    ...checkState(purchase),
    ...checkOrders(purchase, subject.orders),
    ...checkCredits(purchase, subject),
    ...checkQuote(purchase, subject),
  ];
}

function checkJournals(purchase: Purchase, { journals }: Subject): LedgerFinding[] {
  const finding = { check: 'transaction-journals' as const, subject: `transaction ${purchase._id}` };
  const expected = journalsOf[purchase.status];
  const missing = expected.filter((kind) => journals.filter((each) => each.kind === kind).length !== 1);
  const surplus = journals.filter((each) => !expected.includes(each.kind));
  return [
    ...missing.map((kind) => ({
      ...finding,
      message: `it is ${purchase.status} and has ${journals.filter((each) => each.kind === kind).length} journals "${kind}", expected 1`,
    })),
    ...surplus.map((journal) => ({
      ...finding,
      message: `it is ${purchase.status} and has a journal "${journal.kind}", which that state does not have`,
    })),
    ...journals
      .filter((journal) => expected.includes(journal.kind))
      .flatMap((journal) => checkMovement(journal, movementOf(purchase, journal.kind), finding)),
  ];
}

function movementOf(purchase: Purchase, kind: JournalKind): JournalLine[] {
  const { price, accountId } = purchase;
  const commission = purchase.commissionAmount ?? 0;
  const seller = purchase.sellerId ?? 'unknown';
  switch (kind) {
    case 'purchase':
      return [
        { account: `wallet:${accountId}`, amount: -price },
        { account: 'platform:suspense', amount: price },
      ];
    case 'refund':
      return [
        { account: 'platform:suspense', amount: -price },
        { account: `wallet:${accountId}`, amount: price },
      ];
    case 'success':
      return [
        { account: 'platform:suspense', amount: -price },
        { account: `payable:${seller}`, amount: price - commission },
        { account: 'platform:revenue', amount: commission },
      ];
    case 'reversal':
      return [
        { account: `wallet:${accountId}`, amount: price },
        { account: `payable:${seller}`, amount: commission - price },
        { account: 'platform:revenue', amount: -commission },
      ];
    default:
      return [];
  }
}

function checkState(purchase: Purchase): LedgerFinding[] {
  const problems: string[] = [];
  const final = isFinal(purchase.status);
  if (final !== (purchase.finalAt !== null)) {
    problems.push(`it is ${purchase.status} and its finalAt is ${String(purchase.finalAt)}`);
  }
  if (final && purchase.nextActionAt !== null) {
    problems.push('it is final but still waits for somebody');
  }
  if (!final && purchase.nextActionAt === null && purchase.reviewSince === null) {
    problems.push('it is open but nobody will ever look at it: neither nextActionAt nor reviewSince is set');
  }
  const sold = purchase.status === 'SUCCESS' || purchase.status === 'REFUNDED';
  if (sold && (purchase.sellerId === null || purchase.commissionAmount === null)) {
    problems.push('it was sold but names no seller or no commission');
  }
  return problems.map((message) => ({
    check: 'transaction-state',
    subject: `transaction ${purchase._id}`,
    message,
  }));
}

function checkCredits(purchase: Purchase, { credits }: Subject): LedgerFinding[] {
  const net = purchase.price - (purchase.commissionAmount ?? 0);
  const expected = new Map<string, number>();
  if (purchase.status === 'SUCCESS' || purchase.status === 'REFUNDED') {
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
    if ((credit.status === 'posted') !== (credit.postingId !== null)) {
      problems.push(
        `seller credit ${credit._id} is ${credit.status} and names posting ${credit.postingId ?? 'none'}`,
      );
    }
  }
  return problems.map((message) => ({
    check: 'seller-credits',
    subject: `transaction ${purchase._id}`,
    message,
  }));
}

/** A bill is paid once, at what was quoted: the quote names the one purchase that claimed it. */
function checkQuote(purchase: Purchase, { quote }: Subject): LedgerFinding[] {
  if (purchase.quoteId === null) {
    return [];
  }
  const problems: string[] = [];
  if (quote?.usedBy !== purchase._id) {
    problems.push(`it pays quote ${purchase.quoteId}, which was claimed by ${quote?.usedBy ?? 'nobody'}`);
  }
  if (quote && quote.totalAmount !== purchase.price) {
    problems.push(`it paid ${purchase.price} for a bill of ${quote.totalAmount ?? 'nothing'}`);
  }
  return problems.map((message) => ({
    check: 'quotes',
    subject: `transaction ${purchase._id}`,
    message,
  }));
}
