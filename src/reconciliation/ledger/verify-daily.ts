import { withLease } from '../../redis/lease.js';
import { businessDay, daysAfter, startOf } from '../../shared/business-time.js';
import { now, nowMs } from '../../shared/clock.js';
import { logger } from '../../shared/logger.js';
import type { LedgerReport } from './ledger-report.js';
import { ledgerVerifications, type LedgerVerification } from './ledger-verification.model.js';
import { endProgress, tellProgress } from './verification-progress.js';
import { verifyLedger } from './verify-ledger.js';

/** After the close of the day before, which leaves less to read. */
const fromMs = 3_600_000;
/** Somebody mends what a red one has found, and wants to know. */
const redAgainMs = 3_600_000;
const leaseMs = 60_000;
const findingsKept = 20;

/** The clocked job: verifies the ledger once a business day, and every hour while it is red. The result is kept. */
export async function verifyDueDay(): Promise<void> {
  await withLease('verify-ledger', leaseMs, async () => {
    if (nowMs() >= nextVerificationMs(await lastVerification())) {
      await verifyNow();
    }
  });
}

/** The job that an operator asks for: the same at once, unless somebody is at it. */
export async function verifyAskedFor(): Promise<void> {
  await withLease('verify-ledger', leaseMs, verifyNow);
}

/** The last one by the clock, or null before the first. */
export async function lastVerification(): Promise<LedgerVerification | null> {
  return ledgerVerifications.findOne({}, { sort: { _id: -1 } });
}

/** From when on the clock verifies next: an hour after the beginning of a day, and an hour after a red one. */
export function nextVerificationMs(last: LedgerVerification | null): number {
  const day = businessDay(now());
  const nextDay = last?._id === day ? daysAfter(day, 1) : day;
  const byDay = startOf(nextDay).getTime() + fromMs;
  return last && !last.ok ? Math.min(byDay, last.at.getTime() + redAgainMs) : byDay;
}

async function verifyNow(): Promise<void> {
  const report = await verifyLedger(tellProgress).finally(endProgress);
  const failures = report.checks.reduce((sum, each) => sum + each.failures, 0);
  const checks = report.checks
    .filter((each) => each.failures > 0)
    .map(({ check, failures: count }) => ({ check, failures: count }));
  await keep(report, { failures, checks });
  const { durationMs } = report;
  if (report.ok) {
    logger.info('ledger verified', { durationMs });
  } else {
    logger.error('the ledger is not as it must be', { durationMs, failures, checks });
  }
}

async function keep(
  report: LedgerReport,
  counted: Pick<LedgerVerification, 'failures' | 'checks'>,
): Promise<void> {
  const { ok, durationMs, findings } = report;
  await ledgerVerifications.updateOne(
    { _id: businessDay(now()) },
    { $set: { at: now(), durationMs, ok, ...counted, findings: findings.slice(0, findingsKept) } },
    { upsert: true },
  );
}
