import { defineScheduledJob, schedulesQueue } from '../../jobs/sweep-job.js';
import Joi from 'joi';
import { defineJob } from '../../jobs/define-job.js';
import { env } from '../../../config/env.js';
import { redis } from '../../redis/connection.js';
import { nowMs, now } from '../../shared/clock.js';
import type { Progress, LedgerReport, OnPart } from './ledger-report.js';
import { withLease, type HeldLease } from '../../redis/lease.js';
import { formatBusinessDay, addDays, getStartOfDay } from '../../shared/business-time.js';
import { logger } from '../../shared/logger.js';
import { ledgerVerifications, type LedgerVerification } from './ledger-verification.model.js';
import { verifyLedger } from './verify-ledger.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { addJob, findQueuedSubjects } from '../../jobs/add-job.js';

/**
 * Maximum duration of a verification in a worker. If no part is read for a quarter of an hour, the
 * lease ends and the verification stops earlier.
 */
export const verificationMaxMs = 12 * 3_600_000;

/** Verifies the ledger once a day. If today's verification exists, the job takes one read. */
export const verifyLedgerJob = defineScheduledJob('verify-ledger', 600_000, { limitMs: verificationMaxMs });

/**
 * Verifies the ledger on request, in a worker process. If the job is lost, an operator can request
 * it again.
 */
export const verifyNowJob = defineJob<object>({
  queue: schedulesQueue,
  name: 'verify-ledger-now',
  version: 1,
  data: Joi.object({}),
  subject: () => 'all',
  mayBeLost: true,
  limitMs: verificationMaxMs,
});

const publishEveryMs = 1_000;
const progressTtlMs = 120_000;
const progressKey = `${env.QUEUE_PREFIX}:verification`;

export interface VerificationProgress {
  what: 'wallets' | 'subjects';
  done: number;
  /** Estimated number of items. */
  total: number;
}

let publishedMs = -Infinity;

/**
 * Publishes progress in Redis without waiting. The value expires soon after a crash. Errors are
 * ignored.
 */
export const publishProgress: Progress = (step) => {
  if (Math.abs(nowMs() - publishedMs) >= publishEveryMs) {
    publishedMs = nowMs();
    void redis()
      .set(progressKey, JSON.stringify(step), 'PX', progressTtlMs)
      .catch(() => undefined);
  }
};

export async function endProgress(): Promise<void> {
  publishedMs = -Infinity;
  await redis()
    .del(progressKey)
    .catch(() => undefined);
}

/**
 * Reads the progress. Null if no verification is running, or if it has not reported any yet.
 * @throws Error if Redis is unavailable.
 */
export async function readVerificationProgress(): Promise<VerificationProgress | null> {
  const stored = await redis().get(progressKey);
  return stored === null ? null : (JSON.parse(stored) as VerificationProgress);
}

/**
 * Time after midnight at which the verification starts. By then the previous day is closed, which
 * leaves less to read.
 */
const fromMs = 3_600_000;
/** Delay before a failed verification is repeated, so that operators see the effect of a fix. */
const failedRetryMs = 3_600_000;
const leaseMs = 60_000;
const storedFindingsMax = 20;

/**
 * Verifies the ledger once a business day, and hourly while the verification fails. Stores the
 * result.
 */
export async function verifyDueDay(): Promise<void> {
  await runExclusively(async (goesOn) => {
    if (nowMs() >= getNextVerificationMs(await findLastVerification())) {
      await verifyNow(goesOn);
    }
  });
}

/** Verifies the ledger at once, unless a verification is running. Run by `verifyNowJob`. */
export async function verifyOnRequest(): Promise<void> {
  await runExclusively(verifyNow);
}

/**
 * Runs one verification at a time, as long as it makes progress. A concurrent verification would
 * slow down both. After a crash, a later run of the job starts again, at the earliest a minute
 * later.
 * @throws LeaseOverError if no part was read for a quarter of an hour. A verification that resumes
 * after that ends with its next part.
 */
async function runExclusively(verify: (goesOn: OnPart) => Promise<void>): Promise<void> {
  const work = ({ goesOn, over }: HeldLease) => Promise.race([verify(goesOn), over]);
  await withLease('verify-ledger', leaseMs, work, { holdMaxMs: verificationMaxMs });
}

/** Finds the last scheduled verification. Null before the first one. */
export async function findLastVerification(): Promise<LedgerVerification | null> {
  return ledgerVerifications.findOne({}, { sort: { _id: -1 } });
}

/**
 * Returns the time of the next scheduled verification: an hour after the start of a day, or an hour
 * after a failed verification.
 */
export function getNextVerificationMs(last: LedgerVerification | null): number {
  const day = formatBusinessDay(now());
  const nextDay = last?._id === day ? addDays(day, 1) : day;
  const byDay = getStartOfDay(nextDay).getTime() + fromMs;
  return last && !last.ok ? Math.min(byDay, last.at.getTime() + failedRetryMs) : byDay;
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
    logger.error('ledger verification found errors', { durationMs, failures, checks });
  }
}

async function storeVerification(
  report: LedgerReport,
  counted: Pick<LedgerVerification, 'failures' | 'checks' | 'notChecked'>,
): Promise<void> {
  const { ok, durationMs, findings } = report;
  await ledgerVerifications.updateOne(
    { _id: formatBusinessDay(now()) },
    { $set: { at: now(), durationMs, ok, ...counted, findings: findings.slice(0, storedFindingsMax) } },
    { upsert: true },
  );
}

/**
 * Requests a verification by a worker. Does nothing if a verification is waiting or running.
 * @throws DependencyError if Redis is unavailable.
 */
export async function requestVerification(by: ChangedBy): Promise<void> {
  await addJob(verifyNowJob, {});
  await recordAudit(null, {
    ...by,
    action: 'ledger.verify',
    subject: { kind: 'ledger', id: formatBusinessDay(now()) },
  });
}

/** True if a requested verification is waiting or running. */
export async function isVerificationRequested(): Promise<boolean> {
  return (await findQueuedSubjects(verifyNowJob, ['all'])).size > 0;
}
