import { withLease, type Held } from '../../redis/lease.js';
import { businessDay, daysAfter, getStartOfDay } from '../../shared/business-time.js';
import { now, nowMs } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import type { LedgerReport, OnPart } from './ledger-report.js';
import { ledgerVerifications, type LedgerVerification } from './ledger-verification.model.js';
import { verificationMaxMs } from './verification-limit.js';
import { endProgress, publishProgress } from './verification-progress.js';
import { verifyLedger } from './verify-ledger.js';

/** After the close of the day before, which leaves less to read. */
const fromMs = 3_600_000;
/** Somebody mends what a red one has found, and wants to know. */
const redAgainMs = 3_600_000;
const leaseMs = 60_000;
const findingsKept = 20;

/** The clocked job: verifies the ledger once a business day, and every hour while it is red. The result is kept. */
export async function verifyDueDay(): Promise<void> {
  await runExclusively(async (goesOn) => {
    if (nowMs() >= getNextVerificationMs(await findLastVerification())) {
      await verifyNow(goesOn);
    }
  });
}

/** The job that an operator asks for: the same at once, unless somebody is at it. */
export async function verifyAskedFor(): Promise<void> {
  await runExclusively(verifyNow);
}

/**
 * One at a time, however long it takes, while it reads on: a second one beside it would only make both slower. One whose process
 * died is begun anew by the next period, a minute later at the earliest.
 * @throws LeaseOverError where no part was read for a quarter of an hour. Should that one wake up, its next part ends it.
 */
async function runExclusively(verify: (goesOn: OnPart) => Promise<void>): Promise<void> {
  const work = ({ goesOn, over }: Held) => Promise.race([verify(goesOn), over]);
  await withLease('verify-ledger', leaseMs, work, { holdMaxMs: verificationMaxMs });
}

/** The last one by the clock, or null before the first. */
export async function findLastVerification(): Promise<LedgerVerification | null> {
  return ledgerVerifications.findOne({}, { sort: { _id: -1 } });
}

/** From when on the clock verifies next: an hour after the beginning of a day, and an hour after a red one. */
export function getNextVerificationMs(last: LedgerVerification | null): number {
  const day = businessDay(now());
  const nextDay = last?._id === day ? daysAfter(day, 1) : day;
  const byDay = getStartOfDay(nextDay).getTime() + fromMs;
  return last && !last.ok ? Math.min(byDay, last.at.getTime() + redAgainMs) : byDay;
}

async function verifyNow(onPart: OnPart): Promise<void> {
  const report = await verifyLedger(publishProgress, { onPart }).finally(endProgress);
  const failures = report.checks.reduce((sum, each) => sum + (each.failures ?? 0), 0);
  const checks = report.checks
    .map(({ check, failures: count }) => ({ check, failures: count ?? 0 }))
    .filter((each) => each.failures > 0);
  const notChecked = report.checks.filter((each) => each.failures === null).map(({ check }) => check);
  await storeVerification(report, { failures, checks, notChecked });
  const { durationMs } = report;
  if (report.ok) {
    logger.info('ledger verified', { durationMs });
  } else {
    logger.error('the ledger is not as it must be', { durationMs, failures, checks });
  }
}

async function storeVerification(
  report: LedgerReport,
  counted: Pick<LedgerVerification, 'failures' | 'checks' | 'notChecked'>,
): Promise<void> {
  const { ok, durationMs, findings } = report;
  await ledgerVerifications.updateOne(
    { _id: businessDay(now()) },
    { $set: { at: now(), durationMs, ok, ...counted, findings: findings.slice(0, findingsKept) } },
    { upsert: true },
  );
}
