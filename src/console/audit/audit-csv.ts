import { queryOf } from '../../api/middleware/query.js';
import { validate } from '../../api/validate.js';
import { pageOfAudit } from '../../audit/page-of-audit.js';
import type { ConsoleRoute } from '../console-route.js';
import { sendListCsv } from '../send-list-csv.js';
import { auditFilterOf, auditQuery, presentEntry, type AuditQuery } from './list-audit.js';

const columns = ['at', 'actor', 'from', 'action', 'kind', 'subject', 'before', 'after', 'reason', 'id'];

/** The entries of the audit log that fit a filter. */
export const sendAuditCsv: ConsoleRoute['handle'] = async (request, response) => {
  const filter = auditFilterOf(validate<AuditQuery>(auditQuery, queryOf(request)));
  await sendListCsv<Date>(response, {
    filename: 'audit.csv',
    columns,
    async page({ after, limit }) {
      const { found, next } = await pageOfAudit(filter, { before: after, limit });
      return { rows: found.map(presentEntry), next };
    },
  });
};
