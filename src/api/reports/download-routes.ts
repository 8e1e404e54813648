import { Router } from 'express';
import { AccountModel, type Account } from '../../accounts/account.model.js';
import { checkDownloadToken } from '../../reports/download-token.js';
import { ReportModel, type Report } from '../../reports/report.model.js';
import { refuseSuspended } from '../../accounts/authenticate.js';
import { refuseOffAllowlist } from '../middleware/access-rules.js';
import { addressOf } from '../middleware/address.js';
import { queryOf } from '../middleware/query.js';
import { sendFile } from '../send-file.js';
import { fileOf, readyReport } from './file-reply.js';

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
      const { token } = queryOf(request);
      if (token === undefined) {
        next();
        return;
      }
      const id = String(request.params['id']);
      const report = await ReportModel.findById(id).lean<Report>();
      const account = report && (await AccountModel.findById(report.accountId).lean<Account>());
      // Of what does not exist as well: a wrong token hears the same of every report.
      checkDownloadToken({ report: report ?? { _id: id }, account: account ?? {} }, token);
      refuseOffAllowlist(account, addressOf(request));
      if (account) {
        refuseSuspended(account);
      }
      await sendFile(response, fileOf(readyReport(report)));
    },
  );
  return router;
}
