import { Router } from 'express';
import { AccountModel, type Account } from '../../accounts/account.model.js';
import { verifyDownloadToken } from '../../reports/download-token.js';
import { ReportModel, type Report } from '../../reports/report.model.js';
import { refuseSuspended } from '../../accounts/authenticate.js';
import { requireAllowedAddress } from '../middleware/access-rules.js';
import { getClientAddress } from '../middleware/address.js';
import { parseQuery } from '../middleware/query.js';
import { sendFile } from '../send-file.js';
import { buildFileReply, requireReadyReport } from './file-reply.js';

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
