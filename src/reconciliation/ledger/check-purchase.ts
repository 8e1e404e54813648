import { isFinal } from '../../purchases/states.js';
import type { PurchaseStatus } from '../../purchases/purchase.model.js';
import { canBeDecided } from '../../purchases/review/review-decisions.js';
import type { JournalKind, JournalLine } from '../../money/journals/journal.model.js';
import { canMatchMasked } from '../../shared/mask.js';
import { checkOrders, checkCommission, checkCredits, isSold } from './check-orders.js';
import { checkMovement } from './check-journals.js';
import { checkNextAction, type Subject } from './subject.js';
import type { LedgerFinding } from './ledger-report.js';
import type { KnownPurchase, ReadPurchase } from './stored-documents.js';

/**
 * The journals that each state requires. No other journals are allowed. See
 * docs/explanation/postings.md#what-one-posting-writes.
 */
const journalKindsByStatus: Record<PurchaseStatus, readonly JournalKind[]> = {
  PENDING: ['purchase'],
  PROCESSING: ['purchase'],
  SUCCESS: ['purchase', 'success'],
  FAILED: ['purchase', 'refund'],
  REFUNDED: ['purchase', 'success', 'reversal'],
};

/** Checks a purchase against its journals, orders and seller credits. */
export function checkPurchase(purchase: ReadPurchase, subject: Subject): LedgerFinding[] {
  return [
    ...(isKnown(purchase) ? checkByState(purchase, subject) : []),
    ...checkOrders(purchase, subject.orders),
    ...checkQuote(purchase, subject),
  ];
}

/** An unknown state is reported separately. Its expected journals are unknown. */
function isKnown(purchase: ReadPurchase): purchase is KnownPurchase {
  return purchase.status !== null;
}

function checkByState(purchase: KnownPurchase, subject: Subject): LedgerFinding[] {
  return [
    ...checkJournals(purchase, subject),
    ...checkMarkup(purchase, subject),
    ...checkState(purchase, subject),
    ...checkCredits(purchase, subject),
    ...checkCommission(purchase, subject),
  ];
}

function checkJournals(purchase: KnownPurchase, { journals }: Subject): LedgerFinding[] {
  const finding = { check: 'transaction-journals' as const, subject: `transaction ${purchase._id}` };
  const expected: readonly string[] = journalKindsByStatus[purchase.status];
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
      .flatMap((journal) => checkMovement(journal, getExpectedLines(purchase, journal.kind), finding)),
  ];
}

/**
 * Checks the markup against the second suspense line of the debit's journal, which never changes.
 * Commission, seller credit and the maximum order price depend on the markup.
 */
function checkMarkup({ _id, price, markup }: KnownPurchase, { journals }: Subject): LedgerFinding[] {
  const debits = journals.filter((each) => each.kind === 'purchase');
  const expected = [price - (markup ?? 0), ...(markup === null ? [] : [markup])];
  return debits
    .map(({ lines }) =>
      lines.filter(({ account }) => account === 'platform:suspense').map(({ amount }) => amount),
    )
    .filter((named) => named.join() !== expected.join())
    .map((named) => ({
      check: 'transaction-journals',
      subject: `transaction ${_id}`,
      message: `its markup is ${markup ?? 'none'} of ${price}, journal purchase has ${named.join(' and ')} in suspense`,
    }));
}

function getExpectedLines(purchase: ReadPurchase, kind: string): JournalLine[] {
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

function checkState(purchase: KnownPurchase, { orders }: Subject): LedgerFinding[] {
  const { status, finalAt, nextActionAt, reviewSince } = purchase;
  const problems: string[] = [];
  const final = isFinal(status);
  if (final !== (finalAt !== null)) {
    problems.push(`it is ${status} and its finalAt is ${String(finalAt)}`);
  }
  if (final && nextActionAt !== null) {
    problems.push('it is final but still has a next action');
  }
  if (final && reviewSince !== null) {
    problems.push('it is final but still waits for a decision');
  }
  if (!final) {
    problems.push(...checkNextAction(nextActionAt, reviewSince !== null));
  }
  if (!final && reviewSince !== null && !canBeDecided(purchase, orders)) {
    const bought = orders.find((each) => each.status === 'OK');
    problems.push(
      `it waits for a decision that cannot be made: it is ${status}, and attempt ${bought?.n ?? 'none'} was bought`,
    );
  }
  if (isSold(purchase) && (purchase.sellerId === null || purchase.commissionAmount === null)) {
    problems.push('it was sold but has no seller or no commission');
  }
  if (purchase.price < 0) {
    problems.push(`its price is ${purchase.price}`);
  }
  if (purchase.kind !== null && (purchase.kind === 'postpaid') !== (purchase.quoteId !== null)) {
    problems.push(`it is ${purchase.kind} and pays ${purchase.quoteId ?? 'no quote'}`);
  }
  return problems.map((message) => ({
    check: 'transaction-state',
    subject: `transaction ${purchase._id}`,
    message,
  }));
}

const sharedFields = ['accountId', 'productCode'] as const;

/**
 * Checks that a bill is paid once, at the quoted amount, by the purchase that claimed its quote.
 */
function checkQuote(purchase: ReadPurchase, { quote }: Subject): LedgerFinding[] {
  if (purchase.quoteId === null) {
    return [];
  }
  const problems: string[] = [];
  if (quote?.usedBy !== purchase._id) {
    problems.push(`it pays quote ${purchase.quoteId}, which was claimed by ${quote?.usedBy ?? 'nobody'}`);
  }
  if (quote) {
    if ((quote.totalAmount ?? 0) + (quote.markup ?? 0) !== purchase.price) {
      const above = quote.markup === null ? '' : ` and a markup of ${quote.markup}`;
      problems.push(`it paid ${purchase.price} for a bill of ${quote.totalAmount ?? 'nothing'}${above}`);
    }
    if (quote.markup !== purchase.markup) {
      problems.push(
        `its markup is ${purchase.markup ?? 'none'}, that of quote ${quote._id} is ${quote.markup ?? 'none'}`,
      );
    }
    if ((quote.totalBill ?? 0) + (quote.adminFee ?? 0) !== quote.totalAmount) {
      problems.push(`the bill and the fee of quote ${quote._id} do not add up to its total`);
    }
    sharedFields
      .filter((field) => quote[field] !== purchase[field])
      .forEach((field) => problems.push(`its ${field} is not that of quote ${quote._id}`));
    // A paid quote may be masked before the purchase (decision 044).
    if (!canMatchMasked(quote.customerNumber, purchase.customerNumber)) {
      problems.push(`its customerNumber is not that of quote ${quote._id}`);
    }
  }
  return problems.map((message) => ({
    check: 'quotes',
    subject: `transaction ${purchase._id}`,
    message,
  }));
}
