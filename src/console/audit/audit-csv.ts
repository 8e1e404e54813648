import Joi from 'joi';
import { findAuditPage } from '../../audit/read-audit.js';
import { maskNumber } from '../../shared/mask.js';
import { parseConsoleQuery, buildOperatorChangedBy, type ConsoleRoute } from '../console-route.js';
import { sendListCsv } from '../send-list-csv.js';
import { auditFilterFields, buildAuditFilter, presentEntry, type AuditFilterQuery } from './list-audit.js';

const csvQuery = Joi.object<AuditFilterQuery>(auditFilterFields);

/**
 * Matches a customer number. The audit log is kept as long as the ledger, so only the last digits
 * may appear in it.
 */
const customerNumberPattern = /^\+?\d{6,}$/;

const columns = ['at', 'actor', 'from', 'action', 'kind', 'subject', 'before', 'after', 'reason', 'id'];

/** Streams the audit entries that fit a filter as CSV. */
export const sendAuditCsv: ConsoleRoute['handle'] = async (request, response) => {
  const query = parseConsoleQuery(csvQuery, request);
  const filter = buildAuditFilter(query);
  await sendListCsv<Date>(response, {
    filename: 'audit.csv',
    columns,
    exported: {
      by: buildOperatorChangedBy(request, response),
      action: 'audit.export',
      kind: 'audit',
      filter: omitCustomerNumber(query),
    },
    async page({ after, limit }) {
      const { found, next } = await findAuditPage(filter, { before: after, limit });
      return { rows: found.map(presentEntry), next };
    },
  });
};

function omitCustomerNumber({ subject, ...others }: AuditFilterQuery): AuditFilterQuery {
  return subject === undefined
    ? others
    : { ...others, subject: customerNumberPattern.test(subject) ? maskNumber(subject) : subject };
}
