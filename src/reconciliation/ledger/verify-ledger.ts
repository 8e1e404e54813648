import { addDays } from '../../shared/business-time.js';
import { nowMs } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import { findWrongIndexes } from '../../database/indexes.js';
import { runInTransaction } from '../../database/mongo.js';
import { isFinal } from '../../purchases/states.js';
import { PurchaseModel } from '../../purchases/purchase.model.js';
import { checkAdjustments } from './check-adjustment.js';
import { checkCloses, type VerifyOptions } from './check-closes.js';
import { checkKeys, createInvalidKeyLog, type InvalidKey } from './check-keys.js';
import { checkQuotes } from './check-quotes.js';
import { checkSubject } from './check-subject.js';
import { checkAuditedDocuments } from './check-audited-documents.js';
import { isUnvouched } from './check-deposit.js';
import { checkWallets } from './check-wallets.js';
import { checkDailyTotals } from './check-totals.js';
import {
  createFindingLog,
  ledgerChecks,
  type ClosesRead,
  type FindingLog,
  type LedgerCheck,
  type LedgerFinding,
  type LedgerReport,
  type OnPart,
  type Progress,
  type Part,
} from './ledger-report.js';
import { readWithRetries } from './read-pages.js';
import { readSubjects, streamSubjects } from './stream-subjects.js';
import type { Subject } from './subject.js';

/**
 * Verifies every rule of docs/explanation/ledger.md over the whole history while the service runs.
 * It merges batches in index order, with constant memory and no open cursors.
 *
 * A suspected error is read again at one snapshot before it is reported, because a concurrent
 * change can look like an error. An unreadable document is a finding and does not raise an error.
 */
export async function verifyLedger(
  progress: Progress = () => undefined,
  options: VerifyOptions = {},
): Promise<LedgerReport> {
  const startedMs = nowMs();
  const log = createFindingLog();
  const onOdd = createInvalidKeyLog(log);
  const { onPart = () => undefined } = options;
  const reportStep: Progress = (step) => {
    progress(step);
    onPart();
  };
  await checkUniqueIndexes(log);
  await checkKeys(onOdd);
  const { closes, open } = await checkCloses(log, reportStep, options);
  const { examined, totals } = open
    ? await checkUnclosed(log, open.examined, { fromDay: getRecentStart(closes), onPart })
    : await checkEverything(log, { progress: reportStep, onOdd, onPart });
  await checkAdjustments(log, onPart);
  const checks = (Object.keys(ledgerChecks) as LedgerCheck[]).map((check) => ({
    check,
    title: ledgerChecks[check],
    // Findings count even if the rule was only partly checked.
    failures: log.leftOut.has(check) && log.failuresOf(check) === 0 ? null : log.failuresOf(check),
  }));
  return {
    ok: log.failures() === 0,
    durationMs: nowMs() - startedMs,
    checks,
    findings: log.findings,
    examined,
    closes,
    totals,
  };
}

async function checkEverything(log: FindingLog, walk: VerificationContext) {
  const wallets = await checkWallets(log, walk.progress);
  const subjects = await checkSubjects(log, walk);
  const quotes = await checkByTime(log, { fromDay: null, onPart: walk.onPart });
  return {
    examined: { wallets: wallets.wallets, ...subjects.examined, quotes },
    totals: { ...subjects.totals, wallets: wallets.sum },
  };
}

/**
 * Number of recent days, up to the last closed one, to which rules that closes do not cover still
 * apply. A scheduled run starts an hour after the end of a day, and the totals of a day change
 * until its last purchase is final.
 */
const recentDays = 3;

function getRecentStart({ last }: ClosesRead): string | null {
  return last && addDays(last.day, 1 - recentDays);
}

/**
 * Checks the remaining rules over the data that no close covers. Rules that need the whole history
 * are skipped.
 */
async function checkUnclosed(log: FindingLog, examined: LedgerReport['examined'], part: Part) {
  log.leaveOut('suspense-total');
  log.leaveOut('payable-total');
  const quotes = await checkByTime(log, part);
  return { examined: { ...examined, quotes }, totals: null };
}

/** @returns The number of quotes read. */
async function checkByTime(log: FindingLog, part: Part): Promise<number> {
  const quotes = await checkQuotes(log, part);
  await checkAuditedDocuments(log, part);
  await checkDailyTotals(log, part);
  return quotes;
}

async function checkUniqueIndexes(log: FindingLog): Promise<void> {
  for (const { collection, name, problem } of (await findWrongIndexes()).filter((each) => each.unique)) {
    log.add({ check: 'unique-indexes', subject: `index ${collection}.${name}`, message: problem });
  }
}

interface Totals {
  suspense: number;
  openTransactions: number;
  payable: number;
  unpostedCredits: number;
  unvouchedDeposits: number;
}

interface VerificationContext {
  progress: Progress;
  onOdd: (odd: InvalidKey) => void;
  onPart: OnPart;
}

async function checkSubjects(log: FindingLog, walk: VerificationContext) {
  const before = log.failures();
  const first = await walkSubjects(log, walk);
  const isExplained = log.failures() > before;
  if (compareTotals(first.totals).length === 0) {
    return first;
  }
  // Every subject is correct, so the difference may come from a posting in progress. A second pass
  // would not show such a difference again.
  const { totals, examined } = isExplained ? first : await walkSubjects(log, walk);
  compareTotals(totals).forEach((finding) => log.add(finding));
  return { totals, examined };
}

async function walkSubjects(log: FindingLog, { progress, onOdd }: VerificationContext) {
  const total = await PurchaseModel.collection.estimatedDocumentCount();
  const examined = { journals: 0, transactions: 0, deposits: 0, settlements: 0 };
  const totals: Totals = {
    suspense: 0,
    openTransactions: 0,
    payable: 0,
    unpostedCredits: 0,
    unvouchedDeposits: 0,
  };
  // Ids increase with time. Subjects created after this id are excluded from both sides of the
  // totals.
  const bound = newId();
  for await (const streamed of streamSubjects(onOdd)) {
    for (const each of streamed) {
      const subject = await confirmSubject(each, log);
      examined.journals += subject.journals.length;
      examined.transactions += subject.purchase ? 1 : 0;
      examined.deposits += subject.deposit ? 1 : 0;
      examined.settlements += subject.settlement ? 1 : 0;
      if (subject.id < bound) {
        addToTotals(totals, subject, bound);
      }
    }
    progress({ what: 'subjects', done: examined.transactions, total });
  }
  return { examined, totals };
}

/** Returns the subject to count. If it looked wrong, it is read again at one snapshot. */
async function confirmSubject(streamed: Subject, log: FindingLog): Promise<Subject> {
  if (checkSubject(streamed).length === 0) {
    return streamed;
  }
  const [subject] = await readWithRetries(() =>
    runInTransaction((session) => readSubjects(session, [streamed.id])),
  );
  if (!subject) {
    throw new Error(`subject ${streamed.id} was not decoded`);
  }
  checkSubject(subject).forEach((finding) => log.add(finding));
  return subject;
}

function addToTotals(totals: Totals, subject: Subject, bound: string): void {
  for (const { account, amount } of subject.journals.flatMap((journal) => journal.lines)) {
    if (account === 'platform:suspense') {
      totals.suspense += amount;
    } else if (account.startsWith('payable:')) {
      totals.payable += amount;
    }
  }
  const status = subject.purchase?.status ?? null;
  if (subject.purchase && status !== null && !isFinal(status)) {
    totals.openTransactions += subject.purchase.price;
  }
  totals.unvouchedDeposits += isUnvouched(subject) ? (subject.deposit?.amount ?? 0) : 0;
  totals.unpostedCredits += subject.credits
    .filter((credit) => credit.postingId === null || credit.postingId > bound)
    .reduce((sum, credit) => sum + credit.amount, 0);
}

function compareTotals(totals: Totals): LedgerFinding[] {
  const findings: LedgerFinding[] = [];
  if (totals.suspense !== totals.openTransactions) {
    findings.push({
      check: 'suspense-total',
      subject: 'platform:suspense',
      message: `it holds ${totals.suspense}, open transactions total ${totals.openTransactions}`,
    });
  }
  if (totals.payable !== totals.unpostedCredits) {
    findings.push({
      check: 'payable-total',
      subject: 'payable',
      message: `sellers are owed ${totals.payable}, unposted credits total ${totals.unpostedCredits}`,
    });
  }
  return findings;
}
