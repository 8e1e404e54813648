import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { accountById } from '../accounts/find-account.js';
import { env } from '../../config/env.js';
import { deleteReportFile, fileIdOf, writeReportFile } from './report-file.js';
import { ReportModel, type Report } from './report.model.js';
import { reportSource, type ReportRow, type ReportSource } from './report-rows.js';
import { summaryOf, type SummaryBuilder } from './summary.js';

/**
 * Generates a report in one pass, from a cursor through a formatter into GridFS, in constant memory. Safe to run
 * twice: each run claims an epoch and writes a file of its own, and only the claimed one is shown.
 */
export async function generateReport(reportId: string): Promise<void> {
  const report = await ReportModel.findOneAndUpdate(
    { _id: reportId, status: { $in: ['pending', 'processing'] } },
    { $set: { status: 'processing' }, $inc: { epoch: 1 } },
    { returnDocument: 'after' },
  ).lean<Report>();
  if (!report) {
    return;
  }
  const account = await accountById(report.accountId);
  const source = reportSource(report);
  const summary = summaryOf(report, account.commissionRate ?? env.COMMISSION_RATE);
  const fileId = fileIdOf(report);
  const written = { rows: 0, size: 0 };
  try {
    await pipeline(
      Readable.from(countedRows(source, summary, written)),
      report.format === 'csv' ? csvOf(source.columns) : jsonArray(),
      measured(written),
      writeReportFile(fileId, report.filename),
    );
  } catch (error) {
    await deleteReportFile(fileId);
    throw error;
  }
  const result = await ReportModel.updateOne(
    { _id: reportId, epoch: report.epoch, status: 'processing' },
    { $set: { status: 'completed', summary: await summary.build(), ...written, nextActionAt: null } },
  );
  if (result.matchedCount === 0) {
    await deleteReportFile(fileId);
  }
}

async function* countedRows(
  source: ReportSource,
  summary: SummaryBuilder,
  written: { rows: number },
): AsyncGenerator<ReportRow> {
  for await (const { row, counted } of source.rows()) {
    summary.add(counted);
    written.rows += 1;
    yield row;
  }
}

/** RFC 4180 with a header row; a cell that a spreadsheet would run as a formula is prefixed with `'`. */
function csvOf(columns: readonly string[]) {
  return stringify({
    columns: [...columns],
    header: true,
    escape_formulas: true,
    record_delimiter: 'windows',
  });
}

/** A JSON array with one item a line, so that a reader can take the first items without the rest. */
function jsonArray(): Transform {
  let isFirst = true;
  return new Transform({
    writableObjectMode: true,
    transform(row: ReportRow, _encoding, done) {
      const text = (isFirst ? '[\n' : ',\n') + JSON.stringify(row);
      isFirst = false;
      done(null, text);
    },
    flush(done) {
      done(null, isFirst ? '[]\n' : '\n]\n');
    },
  });
}

function measured(written: { size: number }): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      written.size += chunk.length;
      done(null, chunk);
    },
  });
}
