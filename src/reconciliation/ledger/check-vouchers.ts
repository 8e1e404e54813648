import { env } from '../../../config/env.js';
import type { LedgerFinding } from './ledger-report.js';
import type { ReadDeposit } from './stored.js';
import type { Subject } from './subject.js';

/** A deposit that its own call has credited is completed in one database transaction; what waited longer was confirmed. */
const ownCallMs = 60_000;

/**
 * Money that comes from outside, leaves for outside, or is taken back has somebody who answers for it, by an audit entry
 * of the same database transaction. That is all that tells a forged deposit from a true one.
 */
export function checkVouchers(subject: Subject): LedgerFinding[] {
  const { deposit, settlement, purchase } = subject;
  return [
    ...(deposit ? checkDepositVoucher(deposit, subject) : []),
    ...(settlement?.status === 'completed' || settlement?.status === 'failed'
      ? requireVoucher(subject, {
          subject: `settlement ${subject.id}`,
          action: `settlement.${settlement.status}`,
        })
      : []),
    ...(purchase?.status === 'REFUNDED'
      ? requireVoucher(subject, { subject: `transaction ${subject.id}`, action: 'transaction.reverse' })
      : []),
  ];
}

/** With DEPOSIT_MODE=instant an account's own call credits a deposit, and nobody vouches for it. */
export function isUnvouched({ deposit, vouchers }: Subject): boolean {
  return deposit?.status === 'completed' && !vouchers.some((each) => each.action === 'deposit.confirm');
}

function checkDepositVoucher(deposit: ReadDeposit, subject: Subject): LedgerFinding[] {
  const finding = { check: 'vouched' as const, subject: `deposit ${deposit._id}` };
  const confirmed = subject.vouchers.find((each) => each.action === 'deposit.confirm');
  if (confirmed && deposit.status === 'pending') {
    return [{ ...finding, message: 'it is pending, the audit log says that it was confirmed' }];
  }
  if (confirmed && confirmed.amount !== deposit.amount) {
    return [
      {
        ...finding,
        message: `it was confirmed at ${confirmed.amount ?? 'no amount'}, it is ${deposit.amount}`,
      },
    ];
  }
  const waitedMs = (deposit.completedAt?.getTime() ?? 0) - deposit.createdAt.getTime();
  return isUnvouched(subject) && (env.DEPOSIT_MODE === 'confirm' || waitedMs > ownCallMs)
    ? requireVoucher(subject, { subject: finding.subject, action: 'deposit.confirm' })
    : [];
}

function requireVoucher(
  { vouchers }: Subject,
  { subject, action }: { subject: string; action: string },
): LedgerFinding[] {
  return vouchers.some((each) => each.action === action)
    ? []
    : [{ check: 'vouched', subject, message: `there is no audit entry ${action}: nobody answers for it` }];
}
