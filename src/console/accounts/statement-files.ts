import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import Joi from 'joi';
import { isoDay } from '../../api/contract/fields.js';
import type { FileReply } from '../../api/contract/operation.js';
import { sendFile } from '../../api/http/send-response.js';
import { validate } from '../../api/contract/validate.js';
import { requireAccount } from '../../accounts/find-account.js';
import { recordAudit } from '../../audit/record-audit.js';
import { formatBusinessDay, dayNames, parsePeriod } from '../../shared/business-time.js';
import type { CsvFormat } from '../../shared/csv-text.js';
import { languages, type Language } from '../../shared/messages.js';
import { now } from '../../shared/clock.js';
import { env } from '../../../config/env.js';
import {
  readBalances,
  openStatement,
  type Statement,
  streamStatementCsv,
} from '../../statements/statement.js';
import { usernameParams } from '../api/console-operation.js';
import { parseConsoleQuery, buildOperatorChangedBy, type ConsoleRoute } from '../console-route.js';

interface Query {
  from?: string;
  to?: string;
  format: CsvFormat;
  lang: Language;
}

const query = Joi.object<Query>({
  from: isoDay,
  to: isoDay,
  format: Joi.string().valid('csv', 'csv-excel').default('csv'),
  lang: Joi.string()
    .valid(...languages)
    .default('en'),
});

/** Streams a statement as CSV, one page at a time. Times are in business time. */
export const sendStatementCsv: ConsoleRoute['handle'] = async (request, response) => {
  const { statement, filename, format } = await openRequestedStatement(
    request,
    response,
    (asked) => asked.format,
  );
  const what = { after: statement.firstSeq - 1, format, zone: env.BUSINESS_TIMEZONE };
  await sendFile(response, {
    filename: `${filename}.csv`,
    type: 'text/csv; charset=utf-8; header=present',
    size: null,
    open: () => Readable.from(streamStatementCsv(statement, what), { objectMode: false }),
  });
};

/**
 * Sends a statement as PDF. The PDF library is imported at the first request, because nothing else
 * in the console uses it.
 */
export const sendStatementPdf: ConsoleRoute['handle'] = async (request, response) => {
  const { statement, filename, username, lang } = await openRequestedStatement(
    request,
    response,
    () => 'pdf',
  );
  const { drawStatementPdf } = await import('../../statements/statement-pdf.js');
  const balances = (await readBalances(statement)) ?? { opening: 0, closing: 0 };
  const pdf = await drawStatementPdf(statement, { username, balances, language: lang, at: now() });
  const file: FileReply = {
    filename: `${filename}.pdf`,
    type: 'application/pdf',
    size: pdf.length,
    open: () => Readable.from([pdf], { objectMode: false }),
  };
  await sendFile(response, file);
};

/** Records in the audit log who read the statement, as `topup statement` does. */
async function openRequestedStatement(
  request: Request,
  response: Response,
  formatOf: (asked: Query) => string,
): Promise<{ statement: Statement; filename: string; username: string } & Query> {
  const asked = parseConsoleQuery(query, request);
  const { username: wanted } = validate<{ username: string }>(usernameParams, request.params);
  const { _id, username } = await requireAccount(wanted);
  const period = parsePeriod(asked.from, asked.to, dayNames);
  await recordAudit(null, {
    ...buildOperatorChangedBy(request, response),
    action: 'statement.export',
    subject: { kind: 'account', id: _id },
    after: { ...period, format: formatOf(asked) },
  });
  const days = `${formatBusinessDay(period.start)}-${formatBusinessDay(period.end)}`;
  return {
    ...asked,
    username,
    statement: await openStatement(_id, period),
    filename: `statement-${username}-${days}`,
  };
}
