import { checkMovement, checkJournal, findJournalRule } from './check-journals.js';
import type { LedgerFinding } from './ledger-report.js';
import type { Subject } from './subject.js';
import { checkDeposit, checkSupportingEntries } from './check-deposit.js';
import { checkPurchase } from './check-purchase.js';
import { checkSettlement } from './check-settlement.js';

/** Checks that a posting moves the sum of its credits from `payable` to the seller's wallet. */
export function checkPosting({ id, journals, posted }: Subject): LedgerFinding[] {
  const [journal, ...others] = journals.filter((each) => each.kind === 'seller-posting');
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
    ...others.map(() => ({ ...finding, message: 'it was posted more than once' })),
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

/** Returns all findings of one subject. */
export function checkSubject(subject: Subject): LedgerFinding[] {
  const { journals, purchase, deposit, settlement, problems } = subject;
  return [
    ...problems,
    ...journals.flatMap(checkJournal),
    ...checkOwners(subject),
    ...(purchase ? checkPurchase(purchase, subject) : []),
    ...(deposit ? checkDeposit(deposit, journals) : []),
    ...(settlement ? checkSettlement(settlement, journals) : []),
    ...checkPosting(subject),
    ...checkSupportingEntries(subject),
  ];
}

/**
 * Reports documents whose purchase, deposit or settlement does not exist. A posting has no document
 * of its own, only credits.
 */
function checkOwners({ id, journals, orders, credits, ...owners }: Subject): LedgerFinding[] {
  const exists = {
    transaction: owners.purchase !== null,
    deposit: owners.deposit !== null,
    settlement: owners.settlement !== null,
    posting: true,
    // Adjustments are checked in check-adjustment.ts.
    adjustment: true,
  };
  const findings: LedgerFinding[] = [];
  for (const { kind } of journals) {
    const owner = findJournalRule(kind)?.subject;
    if (owner && !exists[owner]) {
      const subject = `journal ${kind} of ${id}`;
      findings.push({ check: 'journal-subject', subject, message: `there is no ${owner} ${id}` });
    }
  }
  if (orders.length > 0 && !exists.transaction) {
    findings.push({
      check: 'attempts',
      subject: id,
      message: 'attempts of a transaction that does not exist',
    });
  }
  if (credits.length > 0 && !exists.transaction) {
    const message = 'a seller credit of a transaction that does not exist';
    findings.push({ check: 'seller-credits', subject: id, message });
  }
  return findings;
}
