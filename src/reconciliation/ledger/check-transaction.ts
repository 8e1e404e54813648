import { isFinal } from '../../purchases/states.js';
import type { Transaction, TransactionStatus } from '../../purchases/purchase.model.js';
import type { JournalKind, JournalLine } from '../../money/journals/journal.model.js';
import { checkAttempts } from './check-attempts.js';
import { checkMovement } from './check-journal.js';
import type { LedgerFinding } from './ledger-report.js';
import type { Subject } from './subject.js';

/** money.md, "What one database transaction writes": the journals that a state must have, and no others. */
const journalsOf: Record<TransactionStatus, readonly JournalKind[]> = {
  PENDING: ['purchase'],
  PROCESSING: ['purchase'],
  SUCCESS: ['purchase', 'success'],
  FAILED: ['purchase', 'refund'],
  REFUNDED: ['purchase', 'success', 'reversal'],
};

/** A transaction against its journals, attempts and seller credits. */
export function checkTransaction(transaction: Transaction, subject: Subject): LedgerFinding[] {
  return [
    ...checkJournals(transaction, subject),
    ...checkState(transaction),
    ...checkAttempts(transaction, subject.attempts),
    ...checkCredits(transaction, subject),
    ...checkQuote(transaction, subject),
  ];
}

function checkJournals(transaction: Transaction, { journals }: Subject): LedgerFinding[] {
  const finding = { check: 'transaction-journals' as const, subject: `transaction ${transaction._id}` };
  const expected = journalsOf[transaction.status];
  const missing = expected.filter((kind) => journals.filter((each) => each.kind === kind).length !== 1);
  const surplus = journals.filter((each) => !expected.includes(each.kind));
  return [
    ...missing.map((kind) => ({
      ...finding,
      message: `it is ${transaction.status} and has ${journals.filter((each) => each.kind === kind).length} journals "${kind}", expected 1`,
    })),
    ...surplus.map((journal) => ({
      ...finding,
      message: `it is ${transaction.status} and has a journal "${journal.kind}", which that state does not have`,
    })),
    ...journals
      .filter((journal) => expected.includes(journal.kind))
      .flatMap((journal) => checkMovement(journal, movementOf(transaction, journal.kind), finding)),
  ];
}

function movementOf(transaction: Transaction, kind: JournalKind): JournalLine[] {
  const { price, accountId } = transaction;
  const commission = transaction.commissionAmount ?? 0;
  const seller = transaction.sellerId ?? 'unknown';
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

function checkState(transaction: Transaction): LedgerFinding[] {
  const problems: string[] = [];
  const final = isFinal(transaction.status);
  if (final !== (transaction.finalAt !== null)) {
    problems.push(`it is ${transaction.status} and its finalAt is ${String(transaction.finalAt)}`);
  }
  if (final && transaction.nextActionAt !== null) {
    problems.push('it is final but still waits for somebody');
  }
  if (!final && transaction.nextActionAt === null && transaction.reviewSince === null) {
    problems.push('it is open but nobody will ever look at it: neither nextActionAt nor reviewSince is set');
  }
  const sold = transaction.status === 'SUCCESS' || transaction.status === 'REFUNDED';
  if (sold && (transaction.sellerId === null || transaction.commissionAmount === null)) {
    problems.push('it was sold but names no seller or no commission');
  }
  return problems.map((message) => ({
    check: 'transaction-state',
    subject: `transaction ${transaction._id}`,
    message,
  }));
}

function checkCredits(transaction: Transaction, { credits }: Subject): LedgerFinding[] {
  const net = transaction.price - (transaction.commissionAmount ?? 0);
  const expected = new Map<string, number>();
  if (transaction.status === 'SUCCESS' || transaction.status === 'REFUNDED') {
    expected.set(transaction._id, net);
  }
  if (transaction.status === 'REFUNDED') {
    expected.set(`${transaction._id}-reversal`, -net);
  }
  const problems = [...expected.keys()]
    .filter((id) => !credits.some((credit) => credit._id === id))
    .map((id) => `the seller credit ${id} is missing`);
  for (const credit of credits) {
    const amount = expected.get(credit._id);
    if (amount === undefined) {
      problems.push(`it is ${transaction.status} and has a seller credit ${credit._id}`);
    } else if (credit.amount !== amount || credit.sellerId !== transaction.sellerId) {
      problems.push(
        `seller credit ${credit._id} gives ${credit.amount} to ${credit.sellerId}, expected ${amount} to ${transaction.sellerId ?? 'none'}`,
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
    subject: `transaction ${transaction._id}`,
    message,
  }));
}

/** A bill is paid once, at what was quoted: the quote names the one transaction that claimed it. */
function checkQuote(transaction: Transaction, { quote }: Subject): LedgerFinding[] {
  if (transaction.quoteId === null) {
    return [];
  }
  const problems: string[] = [];
  if (quote?.usedBy !== transaction._id) {
    problems.push(`it pays quote ${transaction.quoteId}, which was claimed by ${quote?.usedBy ?? 'nobody'}`);
  }
  if (quote && quote.totalAmount !== transaction.price) {
    problems.push(`it paid ${transaction.price} for a bill of ${quote.totalAmount ?? 'nothing'}`);
  }
  return problems.map((message) => ({
    check: 'quotes',
    subject: `transaction ${transaction._id}`,
    message,
  }));
}
