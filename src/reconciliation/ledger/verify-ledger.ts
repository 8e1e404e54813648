import { nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { missingIndexes } from '../../database/missing-indexes.js';
import { inTransaction } from '../../database/mongo.js';
import { isFinal } from '../../purchases/states.js';
import { PurchaseModel } from '../../purchases/purchase.model.js';
import { checkSubject } from './check-subject.js';
import { checkWallets } from './check-wallets.js';
import {
  findingLog,
  ledgerChecks,
  type FindingLog,
  type LedgerCheck,
  type LedgerReport,
  type Progress,
} from './ledger-report.js';
import { readSubject, streamSubjects, type Subject } from './subject.js';

/**
 * Verifies every rule of money.md over the whole history, while the service goes on working. Constant memory:
 * cursors in the order of indexes, merged. Whatever looks wrong is read again at one moment (a snapshot) before
 * it counts, so that a change under way is never taken for a mistake.
 */
export async function verifyLedger(progress: Progress = () => undefined): Promise<LedgerReport> {
  const startedMs = nowMs();
  const log = findingLog();
  await checkUniqueIndexes(log);
  const wallets = await checkWallets(log, progress);
  const subjects = await checkSubjects(log, progress);
  checkTotals(log, subjects.totals);
  const checks = (Object.keys(ledgerChecks) as LedgerCheck[]).map((check) => ({
    check,
    title: ledgerChecks[check],
    failures: log.failuresOf(check),
  }));
  return {
    ok: checks.every((each) => each.failures === 0),
    durationMs: nowMs() - startedMs,
    checks,
    findings: log.kept,
    examined: { wallets: wallets.wallets, ...subjects.examined },
    totals: { ...subjects.totals, wallets: wallets.sum },
  };
}

async function checkUniqueIndexes(log: FindingLog): Promise<void> {
  for (const { collection, name } of (await missingIndexes()).filter((each) => each.unique)) {
    log.add({
      check: 'unique-indexes',
      subject: `index ${collection}.${name}`,
      message: 'it is missing: run node dist/scripts/migrate.js',
    });
  }
}

interface Totals {
  suspense: number;
  openTransactions: number;
  payable: number;
  unpostedCredits: number;
}

async function checkSubjects(log: FindingLog, progress: Progress) {
  const total = await PurchaseModel.collection.estimatedDocumentCount();
  const examined = { journals: 0, transactions: 0, deposits: 0 };
  const totals: Totals = { suspense: 0, openTransactions: 0, payable: 0, unpostedCredits: 0 };
  // Ids rise with time: what begins after this one is left out of the totals, on both of their sides.
  const bound = newId();
  for await (const streamed of streamSubjects()) {
    const subject = await confirmed(streamed, log);
    examined.journals += subject.journals.length;
    examined.transactions += subject.purchase ? 1 : 0;
    examined.deposits += subject.deposit ? 1 : 0;
    if (subject.id < bound) {
      addTo(totals, subject, bound);
    }
    progress({ what: 'subjects', done: examined.transactions, total });
  }
  return { examined, totals };
}

/** The subject as it counts: read again, at one moment, if anything about it looked wrong. */
async function confirmed(streamed: Subject, log: FindingLog): Promise<Subject> {
  if (checkSubject(streamed).length === 0) {
    return streamed;
  }
  const subject = await inTransaction((session) => readSubject(session, streamed.id));
  checkSubject(subject).forEach((finding) => log.add(finding));
  return subject;
}

function addTo(totals: Totals, subject: Subject, bound: string): void {
  for (const { account, amount } of subject.journals.flatMap((journal) => journal.lines)) {
    if (account === 'platform:suspense') {
      totals.suspense += amount;
    } else if (account.startsWith('payable:')) {
      totals.payable += amount;
    }
  }
  if (subject.purchase && !isFinal(subject.purchase.status)) {
    totals.openTransactions += subject.purchase.price;
  }
  totals.unpostedCredits += subject.credits
    .filter((credit) => credit.postingId === null || credit.postingId > bound)
    .reduce((sum, credit) => sum + credit.amount, 0);
}

function checkTotals(log: FindingLog, totals: Totals): void {
  if (totals.suspense !== totals.openTransactions) {
    log.add({
      check: 'suspense-total',
      subject: 'platform:suspense',
      message: `it holds ${totals.suspense}, open transactions come to ${totals.openTransactions}`,
    });
  }
  if (totals.payable !== totals.unpostedCredits) {
    log.add({
      check: 'payable-total',
      subject: 'payable',
      message: `sellers are owed ${totals.payable}, credits not yet posted come to ${totals.unpostedCredits}`,
    });
  }
}
