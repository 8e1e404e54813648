import Joi from 'joi';
import { isoDay, text, timestamp, wholeNumber, nameSchema } from '../../api/contract/fields.js';
import type { AuditEntry } from '../../audit/audit.model.js';
import { findAuditPage, type AuditFilter } from '../../audit/read-audit.js';
import { parseDays } from '../../shared/business-time.js';
import { defineConsoleOperation, requiredObject } from '../api/console-operation.js';
import { day } from '../api/list-query.js';

/** Filter of the audit list and of its CSV. */
export interface AuditFilterQuery {
  actor?: string;
  action?: string;
  kind?: string;
  subject?: string;
  from?: string;
  to?: string;
}

interface AuditQuery extends AuditFilterQuery {
  before?: string;
  limit: number;
}

export const auditFilterFields = {
  actor: text(100),
  action: text(64),
  kind: text(32),
  subject: text(200),
  from: day,
  to: day,
};

/** Maximum length of `before` and `after` as JSON, in characters. */
const changeLengthMax = 4_000;

export const listAudit = defineConsoleOperation<unknown, unknown, AuditQuery>({
  id: 'listAudit',
  method: 'get',
  path: '/audit',
  action: 'audit.look',
  summary: 'Who changed what, when, from where and why, newest first',
  query: Joi.object<AuditQuery>({
    ...auditFilterFields,
    before: isoDay,
    limit: wholeNumber({ max: 100, standard: 50 }),
  }),
  data: requiredObject({
    entries: Joi.array().items(
      nameSchema(
        'AuditEntry',
        requiredObject({
          id: Joi.string(),
          at: timestamp,
          actor: Joi.string(),
          action: Joi.string(),
          kind: Joi.string(),
          subject: Joi.string(),
          before: Joi.string().allow(null).description('As JSON.'),
          after: Joi.string().allow(null),
          from: Joi.string().allow(null),
          reason: Joi.string().allow(null, ''),
        }),
      ),
    ),
    next: timestamp.allow(null).description('Value of `before` for the next page.'),
    looked_back_to: timestamp.allow(null).description('Start of the searched time, if the page is not full.'),
  }),
  async handle({ query }) {
    const { found, next, searchedBackTo } = await findAuditPage(buildAuditFilter(query), {
      before: query.before === undefined ? undefined : new Date(query.before),
      limit: query.limit,
    });
    return {
      entries: found.map(presentEntry),
      next: next?.toISOString() ?? null,
      looked_back_to: searchedBackTo?.toISOString() ?? null,
    };
  },
});

export function buildAuditFilter({ actor, action, kind, subject, from, to }: AuditFilterQuery): AuditFilter {
  return {
    actor,
    action,
    subjectKind: kind,
    subjectId: subject,
    ...parseDays({ from, to }),
  };
}

export function presentEntry({ _id, at, actor, action, subject, before, after, from, reason }: AuditEntry) {
  return {
    id: _id,
    at: at.toISOString(),
    actor,
    action,
    kind: subject.kind,
    subject: subject.id,
    before: formatChange(before),
    after: formatChange(after),
    from: from ?? null,
    reason: reason ?? null,
  };
}

function formatChange(value: unknown): string | null {
  if (value === null || value === undefined) {
    return null;
  }
  const written = JSON.stringify(value);
  return written.length > changeLengthMax ? `${written.slice(0, changeLengthMax)}…` : written;
}
