import Joi from 'joi';
import { env } from '../../../config/env.js';
import { limits } from '../../../config/limits.js';
import type { Role } from '../../accounts/account.model.js';
import { findDocumentPage } from '../../database/document-page.js';
import { loggedRequests, type LoggedRequest } from '../../request-log/logged-request.model.js';
import { formatIsoTime } from '../../shared/business-time.js';
import { buildRoleFields, defineOperation, type AnyOperation } from '../contract/operation.js';
import { refId, timestamp, tz, wholeNumber, nameSchema } from '../contract/fields.js';
import { cursor, nextCursor } from '../contract/list-queries.js';

interface Query {
  failed?: 'true';
  ref_id?: string;
  limit: number;
  cursor?: string;
  tz?: string;
}

const nullableText = Joi.string().allow(null).required();

const requestData = nameSchema(
  'LoggedRequest',
  Joi.object({
    id: Joi.string().required(),
    at: timestamp.required(),
    method: Joi.string().required(),
    path: Joi.string().required(),
    http_status: Joi.number().required().description('499: the client disconnected before the response.'),
    code: nullableText,
    reason: nullableText,
    ref_id: nullableText,
    duration_ms: Joi.number().required(),
    address: Joi.string().required().description('Source address of the call.'),
    request_id: Joi.string().required(),
    request: Joi.object()
      .unknown()
      .allow(null)
      .required()
      .description('Body or query, without secrets and customer numbers.'),
    response: Joi.object()
      .unknown()
      .allow(null)
      .required()
      .description('The response, redacted in the same way; null for a file or a price list.'),
  }),
);

export function listRequestsFor(role: Role): AnyOperation {
  return defineOperation<unknown, unknown, Query>({
    ...buildRoleFields(role, { name: (who) => `list${who}Requests`, path: '/requests' }),
    method: 'get',
    needs: 'trade',
    readsRequestLog: true,
    summary: 'Your recent calls with their responses, newest first',
    description:
      'In a busy minute a process keeps only the first 60 failures and 30 successes. ' +
      'A call appears about a second after its response.',
    query: Joi.object<Query>({
      failed: Joi.string().valid('true').description('Only calls that were refused or failed.'),
      ref_id: refId,
      limit: wholeNumber({ max: limits.pageSizeMax, standard: limits.pageSizeDefault }),
      cursor,
      tz,
    }),
    data: Joi.object({
      requests: Joi.array().items(requestData).required(),
      kept_hours: Joi.number().required().description('0: this service keeps no calls.'),
      next_cursor: nextCursor,
    }),
    async handle({ account, query }) {
      const also = {
        ...(query.failed && { failed: true }),
        ...(query.ref_id !== undefined && { refId: query.ref_id }),
      };
      const page = { after: query.cursor, limit: query.limit };
      const { found, next } = await findDocumentPage(loggedRequests, { accountId: account._id, also }, page);
      return {
        data: {
          requests: found.map((row) => presentRequest(row, query.tz)),
          kept_hours: env.REQUEST_LOG_HOURS,
          next_cursor: next,
        },
      };
    },
  });
}

function presentRequest(row: LoggedRequest, zone?: string) {
  return {
    id: row._id,
    at: formatIsoTime(row.createdAt, zone),
    method: row.method,
    path: row.path,
    http_status: row.httpStatus,
    code: row.code,
    reason: row.reason,
    ref_id: row.refId,
    duration_ms: row.durationMs,
    address: row.address,
    request_id: row.requestId,
    request: parseJsonObject(row.request),
    response: parseJsonObject(row.response),
  };
}

function parseJsonObject(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
