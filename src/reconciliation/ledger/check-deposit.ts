import { checkMovement } from './check-journals.js';
import type { LedgerFinding } from './ledger-report.js';
import type { ReadDeposit, ReadJournal } from './stored-documents.js';
import { env } from '../../../config/env.js';
import type { Subject } from './subject.js';

/**
 * Checks that a completed deposit was credited once, and that any other deposit was not credited.
 */
export function checkDeposit(deposit: ReadDeposit, journals: readonly ReadJournal[]): LedgerFinding[] {
  const finding = { check: 'deposits' as const, subject: `deposit ${deposit._id}` };
  const credited = journals.filter((journal) => journal.kind === 'deposit');
  return [
    ...[...checkCredit(deposit, credited), ...checkBalances(deposit, credited[0])].map((message) => ({
      ...finding,
      message,
    })),
    ...credited.flatMap((journal) =>
      checkMovement(
        journal,
        [
          { account: 'platform:clearing', amount: -deposit.amount },
          { account: `wallet:${deposit.accountId}`, amount: deposit.amount },
        ],
        finding,
      ),
    ),
  ];
}

function checkCredit(
  { status, amount, completedAt }: ReadDeposit,
  credited: readonly ReadJournal[],
): string[] {
  const problems: string[] = [];
  if (amount <= 0) {
    problems.push(`its amount is ${amount}`);
  }
  if (status !== 'completed' && status !== null && credited.length > 0) {
    problems.push(`it is ${status} but was credited`);
  }
  if (status === 'completed' && credited.length === 0) {
    problems.push('it is completed but was never credited');
  }
  if (credited.length > 1) {
    problems.push(`it was credited ${credited.length} times`);
  }
  if (status !== null && (status === 'completed') !== (completedAt !== null)) {
    problems.push(
      status === 'completed' ? 'it is completed without completedAt' : `it is ${status} with completedAt`,
    );
  }
  return problems;
}

function checkBalances(deposit: ReadDeposit, journal: ReadJournal | undefined): string[] {
  const { status, amount, balanceBefore, balanceAfter } = deposit;
  if (status !== 'completed' || !journal) {
    return [];
  }
  const problems: string[] = [];
  if (balanceAfter !== journal.balanceAfter) {
    problems.push(
      `its balanceAfter is ${balanceAfter}, that of its journal is ${journal.balanceAfter ?? 'none'}`,
    );
  }
  if (balanceBefore + amount !== balanceAfter) {
    problems.push('balanceBefore + amount is not balanceAfter');
  }
  return problems;
}

/**
 * An instant deposit completes within its own call. A deposit that took longer needed a
 * confirmation.
 */
const ownCallMs = 60_000;

/**
 * Checks that confirmed deposits, final settlements and reversals have an audit entry, which is
 * written in the same transaction. Only this entry distinguishes a real deposit from a forged one.
 */
export function checkSupportingEntries(subject: Subject): LedgerFinding[] {
  const { deposit, settlement, purchase } = subject;
  return [
    ...(deposit ? checkDepositAuditEntry(deposit, subject) : []),
    ...(settlement?.status === 'completed' || settlement?.status === 'failed'
      ? requireSupportingEntry(subject, {
          subject: `settlement ${subject.id}`,
          action: `settlement.${settlement.status}`,
        })
      : []),
    ...(purchase?.status === 'REFUNDED'
      ? requireSupportingEntry(subject, {
          subject: `transaction ${subject.id}`,
          action: 'transaction.reverse',
        })
      : []),
  ];
}

/**
 * True for a completed deposit without a confirmation. With DEPOSIT_MODE=instant, the account's own
 * call credits the deposit.
 */
export function isUnvouched({ deposit, supportingEntries }: Subject): boolean {
  return (
    deposit?.status === 'completed' && !supportingEntries.some((each) => each.action === 'deposit.confirm')
  );
}

function checkDepositAuditEntry(deposit: ReadDeposit, subject: Subject): LedgerFinding[] {
  const finding = { check: 'vouched' as const, subject: `deposit ${deposit._id}` };
  const confirmed = subject.supportingEntries.find((each) => each.action === 'deposit.confirm');
  if (confirmed && deposit.status === 'pending') {
    return [{ ...finding, message: 'it is pending, but the audit log records its confirmation' }];
  }
  if (confirmed && confirmed.amount !== deposit.amount) {
    return [
      {
        ...finding,
        message: `its audit entry has ${confirmed.amount ?? 'no amount'}, its amount is ${deposit.amount}`,
      },
    ];
  }
  const waitedMs = (deposit.completedAt?.getTime() ?? 0) - deposit.createdAt.getTime();
  return isUnvouched(subject) && (env.DEPOSIT_MODE === 'confirm' || waitedMs > ownCallMs)
    ? requireSupportingEntry(subject, { subject: finding.subject, action: 'deposit.confirm' })
    : [];
}

function requireSupportingEntry(
  { supportingEntries }: Subject,
  { subject, action }: { subject: string; action: string },
): LedgerFinding[] {
  return supportingEntries.some((each) => each.action === action)
    ? []
    : [{ check: 'vouched', subject, message: `there is no audit entry ${action}` }];
}
