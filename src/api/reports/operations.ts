import { env } from '../../../config/env.js';
import type { Account, Role } from '../../accounts/account.model.js';
import { createDownloadToken, revokeAccountLinks, revokeReportLinks } from '../../reports/download-links.js';
import { readReportItems, fileTypes } from '../../reports/report-file.js';
import type { Report, ReportFormat, ReportType } from '../../reports/report.model.js';
import { formatBusinessDay, formatIsoTime } from '../../shared/business-time.js';
import { ConflictError } from '../../shared/errors.js';
import { say } from '../../shared/say.js';
import {
  type Reply,
  buildRoleFields,
  getChangedBy,
  defineOperation,
  type AnyOperation,
} from '../contract/operation.js';
import {
  itemsInlineMax,
  buildReportSchema,
  buildReportFileSchema,
  reportFormats,
  reportTypes,
  buildUnfinishedReportSchema,
} from './report-data.js';
import Joi from 'joi';
import { findReport, requestReport } from '../../reports/request-report.js';
import { now } from '../../shared/clock.js';
import { isoDay, text, timestamp, tz } from '../contract/fields.js';
import { replyWithFile, requireReadyReport } from './downloads.js';

/**
 * Returns 202/05 while the report is pending or processing. Otherwise returns the report with its
 * items (json) or with only a link to its file (other formats).
 * @throws ConflictError (409/01) for a report that failed.
 */
export async function replyWithReport(report: Report, account: Account): Promise<Reply> {
  if (report.status === 'failed') {
    throw new ConflictError(say('reportFailed', { id: report._id }), { reason: 'report_failed' });
  }
  const head = {
    report_id: report._id,
    type: report.type,
    format: report.format,
    period: {
      start_date: formatBusinessDay(report.period.start),
      end_date: formatBusinessDay(report.period.end),
    },
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

interface Body {
  type: ReportType;
  format: ReportFormat;
  start_date?: string;
  end_date?: string;
  tz?: string;
}

const formatDescription = '`csv-excel`: CSV whose texts Excel shows unchanged. `xlsx`: an Excel workbook.';

const getMediaType = (format: ReportFormat) => fileTypes[format].contentType.split(';', 1)[0] ?? '';
/** Media types of report files in addition to JSON. */
const fileMediaTypes = [getMediaType('csv'), getMediaType('xlsx')];

/** Returns the report operations of one role (docs/reference/api/reports.md). */
export function buildReportOperations(role: Role): AnyOperation[] {
  return [
    createReportFor(role),
    getReportFor(role),
    downloadReportFor(role),
    revokeReportLinksFor(role),
    revokeAllLinksFor(role),
  ];
}

function createReportFor(role: Role): AnyOperation {
  return defineOperation<Body>({
    ...buildRoleFields(role, { name: (who) => `create${who}Report`, path: '/reports' }),
    method: 'post',
    needs: 'trade',
    summary: 'Create a report',
    description:
      'Small reports are returned at once, with at most 10,000 items inline (`truncated`: the file has more). ' +
      'Larger reports return 202 with a `report_id`. If `Accept` names the media type of the requested csv or xlsx ' +
      'format, the response is the file.',
    body: Joi.object<Body>({
      type: Joi.string()
        .valid(...reportTypes[role])
        .required(),
      format: Joi.string()
        .valid(...reportFormats)
        .default('json')
        .description(formatDescription),
      start_date: isoDay,
      end_date: isoDay,
      tz,
    }),
    data: buildReportSchema(role),
    unfinishedData: buildUnfinishedReportSchema(role),
    file: 'onRequest',
    fileTypes: fileMediaTypes,
    successStatuses: [200, 202],
    failures: [409, 503],
    async handle({ account, body, prefers, requestId }) {
      const report = await requestReport({
        account,
        type: body.type,
        format: body.format,
        startDate: body.start_date,
        endDate: body.end_date,
        zone: body.tz,
        requestId,
      });
      // A JSON report has its items in the response.
      return report.status === 'completed' && body.format !== 'json' && prefers(getMediaType(body.format))
        ? replyWithFile(report)
        : replyWithReport(report, account);
    },
  });
}

function getReportFor(role: Role): AnyOperation {
  return defineOperation<unknown, { id: string }>({
    ...buildRoleFields(role, { name: (who) => `get${who}Report`, path: '/reports/:id' }),
    method: 'get',
    needs: 'trade',
    summary: 'Read a report',
    description: 'Returns 202 (code 05) while the report is being generated.',
    params: Joi.object<{ id: string }>({ id: text(64).required() }),
    data: buildReportSchema(role),
    unfinishedData: buildUnfinishedReportSchema(role),
    successStatuses: [200, 202],
    failures: [404, 409],
    async handle({ account, params }) {
      return replyWithReport(await findReport(account._id, params.id), account);
    },
  });
}

function downloadReportFor(role: Role): AnyOperation {
  return defineOperation<unknown, { id: string }>({
    ...buildRoleFields(role, { name: (who) => `download${who}Report`, path: '/reports/:id/download' }),
    method: 'get',
    needs: 'trade',
    summary: 'Download the file of a report, with all rows',
    description: 'With the signed `token` of a `download_url`, no API key is needed.',
    params: Joi.object<{ id: string }>({ id: text(64).required() }),
    takesToken: true,
    data: buildReportFileSchema(role),
    file: 'always',
    fileTypes: fileMediaTypes,
    failures: [404],
    async handle({ account, params }) {
      return replyWithFile(requireReadyReport(await findReport(account._id, params.id)));
    },
  });
}

function revokeReportLinksFor(role: Role): AnyOperation {
  return defineOperation<unknown, { id: string }>({
    ...buildRoleFields(role, { name: (who) => `revoke${who}ReportLinks`, path: '/reports/:id/links/revoke' }),
    method: 'post',
    // A caller that may create a link may revoke it.
    needs: 'trade',
    summary: 'Revoke all download links of a report',
    description:
      'The report stays, and reading it returns a new `download_url`. Earlier links return 401/07 from now on.',
    params: Joi.object<{ id: string }>({ id: text(64).required() }),
    data: Joi.object({ report_id: Joi.string().required() }),
    failures: [404],
    async handle(call) {
      await revokeReportLinks(call.account._id, call.params.id, getChangedBy(call));
      return { message: say('linksRevoked'), data: { report_id: call.params.id } };
    },
  });
}

function revokeAllLinksFor(role: Role): AnyOperation {
  return defineOperation({
    ...buildRoleFields(role, { name: (who) => `revoke${who}Links`, path: '/reports/links/revoke' }),
    method: 'post',
    needs: 'trade',
    summary: 'Revoke all download links of all reports',
    description:
      'The reports stay. Replacing the API key with `overlap_minutes` 0 also revokes the links, because someone with ' +
      'the old key may have requested links.',
    data: Joi.object({ revoked_at: timestamp.required() }),
    async handle(call) {
      await revokeAccountLinks(call.account._id, getChangedBy(call));
      return { message: say('allLinksRevoked'), data: { revoked_at: now().toISOString() } };
    },
  });
}
