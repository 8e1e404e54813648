import type { Deposit } from '../../deposits/deposit.model.js';
import type { Journal, JournalKind } from '../../money/journals/journal.model.js';
import { checkJournal, checkMovement } from './check-journal.js';
import { checkSettlement } from './check-settlement.js';
import { checkPurchase } from './check-purchase.js';
import type { LedgerFinding } from './ledger-report.js';
import type { Subject } from './subject.js';

const purchaseKinds: readonly JournalKind[] = ['purchase', 'success', 'refund', 'reversal'];

/** Everything that is wrong with one subject; empty if all is well. */
export function checkSubject(subject: Subject): LedgerFinding[] {
  return [
    ...subject.notInt64.map((where) => ({
      check: 'stored-as-int64' as const,
      subject: subject.id,
      message: `${where} is not stored as a safe int64`,
    })),
    ...subject.journals.flatMap(checkJournal),
    ...(subject.purchase ? checkPurchase(subject.purchase, subject) : checkNoPurchase(subject)),
    ...checkDeposit(subject),
    ...checkPosting(subject),
    ...(subject.settlement
      ? checkSettlement(subject.settlement, subject.journals)
      : checkNoSettlement(subject)),
  ];
}

function checkNoPurchase({ id, journals, orders, credits }: Subject): LedgerFinding[] {
  return [
    ...journals
      .filter((journal) => purchaseKinds.includes(journal.kind))
      .map((journal) => orphan(journal, 'transaction')),
    ...(orders.length > 0
      ? [
          {
            check: 'attempts' as const,
            subject: id,
            message: 'attempts of a transaction that does not exist',
          },
        ]
      : []),
    ...(credits.length > 0
      ? [
          {
            check: 'seller-credits' as const,
            subject: id,
            message: 'a seller credit of a transaction that does not exist',
          },
        ]
      : []),
  ];
}

function checkDeposit({ deposit, journals }: Subject): LedgerFinding[] {
  const credited = journals.filter((journal) => journal.kind === 'deposit');
  const [journal] = credited;
  if (!deposit) {
    return credited.map((each) => orphan(each, 'deposit'));
  }
  const finding = { check: 'deposits' as const, subject: `deposit ${deposit._id}` };
  if (deposit.status === 'pending') {
    return journal ? [{ ...finding, message: 'it is pending but was credited' }] : [];
  }
  if (!journal) {
    return [{ ...finding, message: 'it is completed but was never credited' }];
  }
  return [
    ...checkMovement(
      journal,
      [
        { account: 'platform:clearing', amount: -deposit.amount },
        { account: `wallet:${deposit.accountId}`, amount: deposit.amount },
      ],
      finding,
    ),
    ...checkDepositBalances(deposit, journal).map((message) => ({ ...finding, message })),
  ];
}

function checkDepositBalances(deposit: Deposit, journal: Journal): string[] {
  const problems: string[] = [];
  if (deposit.balanceAfter !== journal.balanceAfter) {
    problems.push(`it says balance ${deposit.balanceAfter}, its journal ${journal.balanceAfter ?? 'none'}`);
  }
  if (deposit.balanceBefore + deposit.amount !== deposit.balanceAfter) {
    problems.push('balanceBefore + amount is not balanceAfter');
  }
  return deposit.completedAt === null ? [...problems, 'it is completed without a time'] : problems;
}

/** A posting moves the sum of its credits from what the seller is owed to the seller's wallet. */
function checkPosting({ id, journals, posted }: Subject): LedgerFinding[] {
  const journal = journals.find((each) => each.kind === 'seller-posting');
  const finding = { check: 'seller-credits' as const, subject: `posting ${id}` };
  const [first] = posted;
  if (!first) {
    return journal ? [{ ...finding, message: 'no seller credit names this posting' }] : [];
  }
  if (!journal) {
    return [{ ...finding, message: `${posted.length} credits name this posting, which has no journal` }];
  }
  const sum = posted.reduce((total, credit) => total + credit.amount, 0);
  const strangers = posted.filter((credit) => credit.sellerId !== first.sellerId);
  return [
    ...strangers.map((credit) => ({ ...finding, message: `credit ${credit._id} belongs to another seller` })),
    ...checkMovement(
      journal,
      [
        { account: `payable:${first.sellerId}`, amount: -sum },
        { account: `wallet:${first.sellerId}`, amount: sum },
      ],
      finding,
    ),
  ];
}

function checkNoSettlement({ journals }: Subject): LedgerFinding[] {
  return journals
    .filter((journal) => journal.kind.startsWith('settlement-'))
    .map((journal) => orphan(journal, 'settlement'));
}

function orphan(journal: Journal, missing: string): LedgerFinding {
  return {
    check: 'journal-subject',
    subject: `journal ${journal.kind} of ${journal.subjectId}`,
    message: `there is no ${missing} ${journal.subjectId}`,
  };
}
