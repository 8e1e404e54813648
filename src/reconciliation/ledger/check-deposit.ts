import { checkMovement } from './check-journal.js';
import type { LedgerFinding } from './ledger-report.js';
import type { ReadDeposit, ReadJournal } from './stored.js';

/** A completed deposit was credited once, any other never. */
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
      status === 'completed' ? 'it is completed without a time' : `it is ${status} with a time of completion`,
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
    problems.push(`it says balance ${balanceAfter}, its journal ${journal.balanceAfter ?? 'none'}`);
  }
  if (balanceBefore + amount !== balanceAfter) {
    problems.push('balanceBefore + amount is not balanceAfter');
  }
  return problems;
}
