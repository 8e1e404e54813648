import { fileTypes, readReportFile } from '../../reports/report-file.js';
import { type Report, ReportModel } from '../../reports/report.model.js';
import { now } from '../../shared/clock.js';
import { NotFoundError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import type { FileReply, Reply } from '../contract/operation.js';
import { Router } from 'express';
import { AccountModel, type Account } from '../../accounts/account.model.js';
import { verifyDownloadToken } from '../../reports/download-links.js';
import { refuseSuspended } from '../../accounts/authenticate.js';
import { requireAllowedAddress } from '../http/access-control.js';
import { getClientAddress, parseQuery } from '../http/read-request.js';
import { sendFile } from '../http/send-response.js';

/** Returns a reply that sends the report's file. */
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

/**
 * Returns the report if its file can be sent.
 * @throws NotFoundError (404/02) if the file is not ready or has expired.
 */
export function requireReadyReport(report: Report | null): Report {
  if (report?.status !== 'completed' || report.expiresAt <= now()) {
    throw new NotFoundError(say('noSuchReport'));
  }
  return report;
}

/**
 * Serves GET of a `download_url`. The signed token replaces the key until it expires or is revoked.
 * The allowlist and a suspension of the account apply.
 * A call without a token is passed to the operation on the same path, which needs the owner's key.
 */
export function createSignedDownloadRouter(): Router {
  const router = Router({ caseSensitive: true });
  router.get(
    ['/api/buyer/reports/:id/download', '/api/seller/reports/:id/download'],
    async (request, response, next) => {
      const { token } = parseQuery(request);
      if (token === undefined) {
        next();
        return;
      }
      const id = String(request.params['id']);
      const report = await ReportModel.findById(id).lean<Report>();
      const account = report && (await AccountModel.findById(report.accountId).lean<Account>());
      // Verified for missing reports too, so that a wrong token does not reveal whether a report
      // exists.
      verifyDownloadToken({ report: report ?? { _id: id }, account: account ?? {} }, token);
      requireAllowedAddress(account, getClientAddress(request));
      if (account) {
        refuseSuspended(account);
      }
      await sendFile(response, buildFileReply(requireReadyReport(report)));
    },
  );
  return router;
}
