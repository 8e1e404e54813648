import Joi from 'joi';
import { defineJob, defineQueue } from '../jobs/define-job.js';
import { isDuplicateKey } from '../database/mongo.js';
import { tryToAddJob } from '../jobs/add-job.js';
import { moveToFront } from '../jobs/promote-job.js';
import { now, nowMs } from '../shared/clock.js';
import { reports, type Report } from './report.model.js';
import { outboxJob, type Outbox } from '../jobs/outbox.js';
import { defineSweep } from '../jobs/sweep-job.js';

interface ReportData {
  reportId: string;
  /** Whose report it is. */
  accountId: string;
}

/** Generates a report; a few at a time, because they are long, and wait for MongoDB most of the time. */
export const generateReportJob = defineJob<ReportData>({
  queue: defineQueue({
    name: 'reports',
    does: 'Generates reports',
    // One more than an account has turns: the next one need not wait for both.
    concurrency: 3,
  }),
  name: 'reports',
  version: 2,
  data: Joi.object({ reportId: Joi.string(), accountId: Joi.string() }),
  subject: ({ reportId }) => reportId,
  // A million rows take a minute or two on a small machine.
  limitMs: 30 * 60_000,
});

/**
 * How many reports of an account are made at the same time. The others wait in MongoDB, not in the queue, so that
 * whoever asks for hundreds waits for them alone.
 */

/**
 * A report that no worker has begun after this is looked at by the sweep, which adds its job if that is lost. One that waits for its
 * turn has none, and is called by those before it.
 */
export const sweepAfterMs = { called: 30_000, waiting: 600_000 };

/** A long report leaves the second turn to the short ones of its account, which prefer it. */
const turns = { short: [1, 0], long: [0] };

/** By BullMQ: short reports, which somebody looks at just now, go before the long ones of all accounts. */
const priorities = { short: 0, long: 1 };
/** A long one that has waited for so long is the next. */
const longWaitMaxMs = 60_000;

function getKind({ isLong = false }: Pick<Report, 'isLong'>): 'short' | 'long' {
  return isLong ? 'long' : 'short';
}

export function getReportPriority(report: Pick<Report, 'isLong'>): number {
  return priorities[getKind(report)];
}

export const openReportFilter = { status: { $in: ['pending', 'processing'] as Report['status'][] } };

/** @returns false if it has to wait, because all turns of its account are taken, and if it is over or has a turn. */
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
 * Gives turns that are free to the reports of this account that have waited longest. Should this process die before,
 * the sweep finds them.
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

/** Lets the long report that has waited in the queue for too long be the next, whoever's it is. Called at the end of each report. */
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

/** Reports that are not made yet. */
export const reportOutbox: Outbox<Report> = {
  name: 'reports',
  collection: reports,
  open: openReportFilter,
  fields: ['requestId', 'turn'],
  jobs: [
    outboxJob({
      job: generateReportJob,
      dataOf: ({ _id, accountId }) => ({ reportId: _id, accountId }),
      requestIdOf: ({ requestId }) => requestId,
      isNeededBy: () => true,
    }),
  ],
  graceMs: (_epoch, { turn }) => (turn === null ? sweepAfterMs.waiting : sweepAfterMs.called),
};

export const sweepReportsJob = defineSweep('sweep-reports', 30_000);
