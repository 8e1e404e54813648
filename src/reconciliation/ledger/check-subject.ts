import { checkDeposit } from './check-deposit.js';
import { checkJournal } from './check-journal.js';
import { checkPosting } from './check-posting.js';
import { checkPurchase } from './check-purchase.js';
import { checkSettlement } from './check-settlement.js';
import { checkVouchers } from './check-vouchers.js';
import { findJournalRule } from './journal-rules.js';
import type { LedgerFinding } from './ledger-report.js';
import type { Subject } from './subject.js';

/** Everything that is wrong with one subject; empty if all is well. */
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
    ...checkVouchers(subject),
  ];
}

/** What belongs to a purchase, deposit or settlement that does not exist. A posting is nothing but its credits. */
function checkOwners({ id, journals, orders, credits, ...owners }: Subject): LedgerFinding[] {
  const exists = {
    transaction: owners.purchase !== null,
    deposit: owners.deposit !== null,
    settlement: owners.settlement !== null,
    posting: true,
    // check-adjustment.ts looks at these by themselves.
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
