import { defineClocked, schedules } from '../../jobs/sweep-job.js';
import Joi from 'joi';
import { defineJob } from '../../jobs/define-job.js';
import { env } from '../../../config/env.js';
import { redis } from '../../redis/connection.js';
import { nowMs, now } from '../../shared/clock.js';
import type { Progress, LedgerReport, OnPart } from './ledger-report.js';
import { withLease, type Held } from '../../redis/lease.js';
import { businessDay, daysAfter, getStartOfDay } from '../../shared/business-time.js';
import { logger } from '../../shared/logger.js';
import { ledgerVerifications, type LedgerVerification } from './ledger-verification.model.js';
import { verifyLedger } from './verify-ledger.js';
import { recordAudit, type ChangedBy } from '../../audit/record-audit.js';
import { addJob, subjectsInQueue } from '../../jobs/add-job.js';

/**
 * The most that one verification by a worker takes. What hangs is ended long before, by its lease: no part of it was read for a
 * quarter of an hour.
 */
export const verificationMaxMs = 12 * 3_600_000;

/** Verifies the ledger once a day. Most of the time it is done already, which one read tells. */
export const verifyLedgerJob = defineClocked('verify-ledger', 600_000, { limitMs: verificationMaxMs });

/** Verifies the ledger because somebody asks for it, in a process that answers nobody meanwhile. Lost, it is asked for again. */
export const verifyNowJob = defineJob<object>({
  queue: schedules,
  name: 'verify-ledger-now',
  version: 1,
  data: Joi.object({}),
  subject: () => 'all',
  mayBeLost: true,
  limitMs: verificationMaxMs,
});

/** How far the verification under way has come, for whoever watches it: in Redis, and gone soon after its process died. */

const publishEveryMs = 1_000;
const keptMs = 120_000;
const progressKey = `${env.QUEUE_PREFIX}:verification`;

export interface VerificationProgress {
  what: 'wallets' | 'subjects';
  done: number;
  /** About. */
  total: number;
}

let publishedMs = -Infinity;

/** Never waited for, and nothing hangs on it. */
export const publishProgress: Progress = (step) => {
  if (Math.abs(nowMs() - publishedMs) >= publishEveryMs) {
    publishedMs = nowMs();
    void redis()
      .set(progressKey, JSON.stringify(step), 'PX', keptMs)
      .catch(() => undefined);
  }
};

export async function endProgress(): Promise<void> {
  publishedMs = -Infinity;
  await redis()
    .del(progressKey)
    .catch(() => undefined);
}

/** Null: none is under way, or it has not told anything yet. @throws Redis's own errors. */
export async function readVerificationProgress(): Promise<VerificationProgress | null> {
  const told = await redis().get(progressKey);
  return told === null ? null : (JSON.parse(told) as VerificationProgress);
}

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

/**
 * Lets a worker verify the ledger now. One that waits or is under way is enough.
 * @throws DependencyError while Redis is away.
 */
export async function requestVerification(by: ChangedBy): Promise<void> {
  await addJob(verifyNowJob, {});
  await recordAudit(null, {
    ...by,
    action: 'ledger.verify',
    subject: { kind: 'ledger', id: businessDay(now()) },
  });
}

/** Whether one that was asked for waits or is under way. */
export async function isVerificationRequested(): Promise<boolean> {
  return (await subjectsInQueue(verifyNowJob, ['all'])).size > 0;
}
