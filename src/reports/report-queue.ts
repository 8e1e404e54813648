import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';
import { isDuplicateKey } from '../database/mongo.js';
import { tryToAddJob } from '../jobs/add-job.js';
import { moveToFront } from '../jobs/promote-job.js';
import { now, nowMs } from '../shared/clock.js';
import { reports, type Report } from './report.model.js';
import { defineOutboxJob, type Outbox } from '../jobs/outbox.js';
import { defineSweep } from '../jobs/sweep-job.js';

interface ReportData {
  reportId: string;
  accountId: string;
}

/**
 * Generates a report. A report takes long but mostly waits for MongoDB, so a few run concurrently.
 */
export const generateReportJob = defineJob<ReportData>({
  queue: defineQueue({
    name: 'reports',
    does: 'Generates reports',
    // One more than the turns of an account, so that a report of another account need not wait.
    concurrency: 3,
  }),
  name: 'reports',
  version: 2,
  data: Joi.object({ reportId: Joi.string(), accountId: Joi.string() }),
  subject: ({ reportId }) => reportId,
  // A million rows take one or two minutes on a small machine.
  limitMs: 30 * 60_000,
});

/**
 * Milliseconds after which the sweep adds the lost job of an unfinished report.
 *
 * `called` applies to a report that has a turn. `waiting` applies to a report without a turn, and
 * so without a job: normally the end of an earlier report adds the job.
 */
export const sweepAfterMs = { called: 30_000, waiting: 600_000 };

/**
 * Turns by kind of report, preferred turn first. The number of turns limits how many reports of an
 * account run concurrently. Other reports wait in MongoDB and not in the queue, so many reports of
 * one account delay only that account. Long reports leave turn 1 to short reports.
 */
const turns = { short: [1, 0], long: [0] };

/** BullMQ priorities. Short reports run before all long ones, because their users are waiting. */
const priorities = { short: 0, long: 1 };
/** A long report that has waited this long, in milliseconds, runs next. */
const longWaitMaxMs = 60_000;

function getKind({ isLong = false }: Pick<Report, 'isLong'>): 'short' | 'long' {
  return isLong ? 'long' : 'short';
}

export function getReportPriority(report: Pick<Report, 'isLong'>): number {
  return priorities[getKind(report)];
}

export const openReportFilter = { status: { $in: ['pending', 'processing'] as Report['status'][] } };

/**
 * Takes a free turn of the account for a report.
 * @returns False if all turns are taken, or if the report already has a turn, is finished or has
 * expired.
 */
export async function takeTurn(report: Pick<Report, '_id' | 'accountId' | 'isLong'>): Promise<boolean> {
  const { _id, accountId } = report;
  for (const turn of turns[getKind(report)]) {
    try {
      // A unique index gives each turn to one report.
      const waiting = { ...openReportFilter, _id, accountId, turn: null, expiresAt: { $gt: now() } };
      const nextActionAt = new Date(nowMs() + sweepAfterMs.called);
      return (await reports.updateOne(waiting, { $set: { turn, nextActionAt } })).matchedCount === 1;
    } catch (error) {
      if (!isDuplicateKey(error)) {
        throw error;
      }
    }
  }
  return false;
}

/**
 * Gives free turns to the account's reports that have waited longest, and adds their jobs. If this
 * process crashes before that, the sweep adds the jobs.
 */
export async function startNextReports(accountId: string): Promise<void> {
  const wanted = { accountId, status: 'pending' as const, turn: null, expiresAt: { $gt: now() } };
  const oldest = (isLong: true | { $ne: true }, count: number) =>
    reports
      .find({ ...wanted, isLong })
      .sort({ createdAt: 1 })
      .limit(count)
      .toArray();
  const [short, long] = await Promise.all([
    oldest({ $ne: true }, turns.short.length),
    oldest(true, turns.long.length),
  ]);
  const waiting = [...short, ...long].sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  for (const each of waiting) {
    if (await takeTurn(each)) {
      const priority = getReportPriority(each);
      const { _id: reportId, requestId } = each;
      await tryToAddJob(generateReportJob, { reportId, accountId }, { priority, requestId });
    }
  }
}

/**
 * Moves the long report that has waited longest past the limit to the front of the queue, whatever
 * its account. Called at the end of each report.
 */
export async function promoteLongestWaiting(): Promise<void> {
  const [longest] = await reports
    .find({
      isLong: true,
      status: 'pending' as const,
      turn: { $type: 'number' } as never,
      createdAt: { $lte: new Date(nowMs() - longWaitMaxMs) },
    })
    .sort({ createdAt: 1 })
    .limit(1)
    .toArray();
  if (longest) {
    await moveToFront(generateReportJob, { reportId: longest._id, accountId: longest.accountId });
  }
}

/** Outbox that adds the jobs of unfinished reports. */
export const reportOutbox: Outbox<Report> = {
  name: 'reports',
  collection: reports,
  open: openReportFilter,
  fields: ['requestId', 'turn'],
  jobs: [
    defineOutboxJob({
      job: generateReportJob,
      dataOf: ({ _id, accountId }) => ({ reportId: _id, accountId }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: () => true,
    }),
  ],
  graceMs: (_epoch, { turn }) => (turn === null ? sweepAfterMs.waiting : sweepAfterMs.called),
};

export const sweepReportsJob = defineSweep('sweep-reports', 30_000);
