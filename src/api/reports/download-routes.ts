import { Router } from 'express';
import { checkDownloadToken } from '../../reports/download-token.js';
import { ReportModel, type Report } from '../../reports/report.model.js';
import { queryOf } from '../middleware/query.js';
import { sendFile } from '../send-file.js';
import { fileOf, readyReport } from './file-reply.js';

/**
 * GET of a `download_url`: the signed token stands for the key until it expires. Without a token the call goes on
 * to the operation of the same path, which wants the owner's key.
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
      checkDownloadToken(id, token);
      await sendFile(response, fileOf(readyReport(await ReportModel.findById(id).lean<Report>())));
    },
  );
  return router;
}
