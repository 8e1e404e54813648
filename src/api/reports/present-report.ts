import { env } from '../../../config/env.js';
import type { Account } from '../../accounts/account.model.js';
import { createDownloadToken } from '../../reports/download-token.js';
import { readReportItems } from '../../reports/read-report-items.js';
import type { Report } from '../../reports/report.model.js';
import { businessDay } from '../../shared/business-time.js';
import { formatIsoTime } from '../../shared/iso-time.js';
import { ConflictError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import type { Reply } from '../operation.js';
import { itemsInlineMax } from './report-data.js';

/**
 * 202/05 while it waits or a worker is at it; otherwise the report, its items inline (json) or a link to its file (csv).
 * @throws ConflictError (409/01) for one that could not be made.
 */
export async function replyWithReport(report: Report, account: Account): Promise<Reply> {
  if (report.status === 'failed') {
    throw new ConflictError(say('reportFailed', { id: report._id }), { reason: 'report_failed' });
  }
  const head = {
    report_id: report._id,
    type: report.type,
    format: report.format,
    period: { start_date: businessDay(report.period.start), end_date: businessDay(report.period.end) },
  };
  if (report.status !== 'completed') {
    return {
      httpStatus: 202,
      code: '05',
      message: say('reportBeingMade'),
      data: { ...head, status: report.status },
    };
  }
  const { products, ...summary } = report.summary ?? {};
  const body = {
    ...head,
    summary,
    ...(products !== undefined && { products }),
    ...presentFile(report, account),
  };
  if (report.format !== 'json') {
    return { message: say('reportReady'), data: body };
  }
  const purchases = await readReportItems(report, itemsInlineMax);
  return {
    message: say('reportReady'),
    data: { ...body, transactions: purchases, truncated: (report.rows ?? 0) > purchases.length },
  };
}

function presentFile(report: Report, account: Account) {
  const base = env.BASE_URL ?? `http://127.0.0.1:${env.PORT}`;
  const token = createDownloadToken({ report, account }, report.expiresAt);
  return {
    filename: report.filename,
    rows: report.rows ?? 0,
    size: report.size ?? 0,
    download_url: `${base}/api/${report.role}/reports/${report._id}/download?token=${token}`,
    expires_at: formatIsoTime(report.expiresAt, report.zone),
  };
}
