import { getCommissionRate } from '../accounts/effective-settings.js';
import { pipeline } from 'node:stream/promises';
import { getExistingAccount } from '../accounts/find-account.js';
import { now, nowMs } from '../shared/clock.js';
import { logger } from '../shared/logger.js';
import { repeat } from '../shared/repeat.js';
import { deleteEarlierFiles, deleteReportFile, writeReportFile } from './report-file.js';
import { ReportModel, type Report } from './report.model.js';
import { promoteLongestWaiting, startNextReports, openReportFilter, takeTurn } from './report-queue.js';
import { readReportPages } from './report-rows.js';
import { createReportText } from './report-text.js';
import { createSummaryBuilder } from './summary.js';

/**
 * If an attempt does not renew its claim for this many milliseconds, it counts as dead, and the
 * report starts again (report-queue.ts).
 */
export const claimMs = 60_000;
const renewEveryMs = 15_000;

/**
 * Generates a report in one pass, from pages of rows through a formatter into GridFS, in constant
 * memory. Idempotent: each run claims a new epoch and writes its own file, and only the last
 * claim's file is used.
 */
export async function generateReport(reportId: string): Promise<void> {
  const found = await ReportModel.findById(reportId).lean<Report>();
  if (!found) {
    return;
  }
  const report = await claimReport(found);
  if (report) {
    await runAttempt(report);
  }
  // Also runs after an ended report. The process that ended the report may have failed before it
  // started the next reports.
  await Promise.all([startNextReports(found.accountId), promoteLongestWaiting()]);
}

/**
 * Marks a report as failed after repeated failures. The owner sees the failure on the next read
 * (src/api/reports/operations.ts). The operator sees it in the log and in `topup doctor`.
 */
export async function giveUpReport({ reportId }: { reportId: string }, reason: string): Promise<boolean> {
  const report = await ReportModel.findOneAndUpdate(
    { _id: reportId, ...openReportFilter },
    { $set: { status: 'failed', nextActionAt: null, turn: null }, $inc: { epoch: 1 } },
    { returnDocument: 'after' },
  ).lean<Report>();
  if (report) {
    logger.error('report given up', { reportId, requestId: report.requestId, reason });
    await deleteEarlierFiles(report);
    await startNextReports(report.accountId);
  }
  return true;
}

async function runAttempt(report: Report): Promise<void> {
  const startedMs = performance.now();
  const claim = keepClaim(report);
  try {
    await deleteEarlierFiles(report);
    const found = await writeReport(report, claim.lost);
    const result = await ReportModel.updateOne(getClaimFilter(report), {
      $set: { status: 'completed', ...found, nextActionAt: null, turn: null },
    });
    if (result.matchedCount === 0) {
      await deleteReportFile(report);
      return;
    }
    const { _id: reportId, requestId } = report;
    const { rows, size } = found;
    const ms = Math.round(performance.now() - startedMs);
    logger.info('report generated', { reportId, requestId, rows, size, ms });
  } catch (error) {
    await deleteReportFile(report);
    if (!claim.lost.aborted) {
      throw error;
    }
    logger.info('another worker is generating this report, or it was removed', {
      reportId: report._id,
      requestId: report.requestId,
      epoch: report.epoch,
    });
  } finally {
    await claim.release();
  }
}

/** @returns Null if the report must not be generated, or if all turns of its account are taken. */
async function claimReport(found: Report): Promise<Report | null> {
  const wanted = { _id: found._id, ...openReportFilter, expiresAt: { $gt: now() } };
  // A report without a turn takes one first.
  if (typeof found.turn !== 'number' && !(await takeTurn(found))) {
    return null;
  }
  return ReportModel.findOneAndUpdate(
    wanted,
    {
      $set: { status: 'processing', nextActionAt: new Date(nowMs() + claimMs) },
      $inc: { epoch: 1 },
    },
    { returnDocument: 'after' },
  ).lean<Report>();
}

/** Matches the report while no other attempt has claimed it. */
function getClaimFilter({ _id, epoch }: Report) {
  return { _id, epoch, status: 'processing' as const };
}

/**
 * Renews the claim of this attempt until it is released. Aborts `lost` when another attempt has
 * begun or the report was ended.
 */
function keepClaim(report: Report): { lost: AbortSignal; release(): Promise<void> } {
  const lost = new AbortController();
  const renewing = repeat({
    name: 'renew report claim',
    everyMs: renewEveryMs,
    async run() {
      const stillMine = { ...getClaimFilter(report), expiresAt: { $gt: now() } };
      const result = await ReportModel.updateOne(stillMine, {
        $set: { nextActionAt: new Date(nowMs() + claimMs) },
      });
      if (result.matchedCount === 0) {
        lost.abort();
      }
    },
  });
  return { lost: lost.signal, release: () => renewing.stop() };
}

/** @returns The fields of the report that describe its file. */
async function writeReport(
  report: Report,
  lost: AbortSignal,
): Promise<Pick<Report, 'summary' | 'rows' | 'size'>> {
  const account = await getExistingAccount(report.accountId);
  const summary = createSummaryBuilder(report, getCommissionRate(account));
  const written = { rows: 0, size: 0 };

  async function* texts(): AsyncGenerator<string | Buffer> {
    const text = createReportText(report);
    yield text.head();
    for await (const page of readReportPages(report)) {
      page.forEach(({ counted }) => summary.add(counted));
      written.rows += page.length;
      yield text.rows(page.map(({ row }) => row));
    }
    yield text.tail();
  }
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const text of texts()) {
      const chunk = typeof text === 'string' ? Buffer.from(text) : text;
      written.size += chunk.length;
      yield chunk;
    }
  }

  await pipeline(bytes, writeReportFile(report), { signal: lost });
  return { ...written, summary: await summary.build() };
}
