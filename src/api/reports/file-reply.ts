import { fileTypes } from '../../reports/file-types.js';
import { readReportFile } from '../../reports/report-file.js';
import type { Report } from '../../reports/report.model.js';
import { now } from '../../shared/clock.js';
import { NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import type { FileReply, Reply } from '../operation.js';

/** A report's file as the answer itself. */
export function replyWithFile(report: Report): Reply {
  return { data: null, file: buildFileReply(report) };
}

export function buildFileReply(report: Report): FileReply {
  return {
    filename: report.filename,
    type: fileTypes[report.format].contentType,
    size: report.size ?? 0,
    open: () => readReportFile(report),
  };
}

/** @throws NotFoundError (404/02) while there is no file to send, or none any more. */
export function requireReadyReport(report: Report | null): Report {
  if (report?.status !== 'completed' || report.expiresAt <= now()) {
    throw new NotFoundError(say('noSuchReport'));
  }
  return report;
}
