import { Readable } from 'node:stream';
import { queryOf } from '../../api/middleware/query.js';
import { sendFile } from '../../api/send-file.js';
import { validate } from '../../api/validate.js';
import { pageOfAudit } from '../../audit/page-of-audit.js';
import { csvText } from '../../shared/csv-text.js';
import type { ConsoleRoute } from '../console-route.js';
import { auditFilterOf, auditQuery, presentEntry, type AuditQuery } from './list-audit.js';

const columns = ['at', 'actor', 'from', 'action', 'kind', 'subject', 'before', 'after', 'reason', 'id'];
const rowsMax = 10_000;
const pageSize = 500;

/** The entries that fit a filter, newest first, a page at a time as they are taken; at most 10,000, and as many pages. */
export const sendAuditCsv: ConsoleRoute['handle'] = async (request, response) => {
  const query = validate<AuditQuery>(auditQuery, queryOf(request));
  await sendFile(response, {
    filename: 'audit.csv',
    type: 'text/csv; charset=utf-8; header=present',
    size: null,
    open: () => Readable.from(auditCsv(query), { objectMode: false }),
  });
};

const pagesMax = 100;

async function* auditCsv(query: AuditQuery): AsyncGenerator<string> {
  const csv = csvText(columns);
  const filter = auditFilterOf(query);
  yield csv.head;
  let before: Date | undefined;
  let left = rowsMax;
  for (let page = 0; page < pagesMax && left > 0; page += 1) {
    const { found, next } = await pageOfAudit(filter, { before, limit: Math.min(pageSize, left) });
    yield csv.rows(found.slice(0, left).map(presentEntry));
    left -= found.length;
    if (next === null) {
      return;
    }
    before = next;
  }
}
