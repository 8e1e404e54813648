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

/**
 * GET of a `download_url`: the signed token stands for the key until it expires or is revoked, from where the key may be
 * used and while the account is not suspended. Without a token the call goes on to the operation of the same path, which
 * wants the owner's key.
 */
export function signedDownloadRoutes(): Router {
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
      // Of what does not exist as well: a wrong token hears the same of every report.
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
