import Joi from 'joi';
import { limits } from '../../../config/limits.js';
import type { PageFilter } from '../../database/document-page.js';
import {
  formatIsoTime,
  getEndOfDay,
  requireChronological,
  getStartOfDay,
  type Period,
} from '../../shared/business-time.js';
import { say } from '../../shared/say.js';
import {
  caseInsensitive,
  isoDay,
  nameSchema,
  refId,
  tz,
  wholeNumber,
  filterStatus,
  page,
  pageSize,
  productCode,
  text,
  timestamp,
} from './fields.js';
import { label, toJoiMessages } from '../language/joi-messages.js';
import type { HistorySearch } from '../../purchases/history.js';
import type { ShownStatus } from '../../purchases/states.js';

/** Query parameters of the deposit and settlement lists (docs/reference/api/lists.md#lists). */
export interface ListFilter<Status extends string> {
  status?: Status;
  ref_id?: string;
  start_date?: string;
  end_date?: string;
  limit: number;
  cursor?: string;
  tz?: string;
}

const invalidCursorMessage = say('cursorOfCall', label);

export const cursor = Joi.string()
  .min(20)
  .max(134)
  .pattern(/^\d{1,15}-[\w-]{1,120}$/)
  .messages(
    toJoiMessages({
      'string.pattern.base': invalidCursorMessage,
      'string.min': invalidCursorMessage,
      'string.max': invalidCursorMessage,
    }),
  )
  .example('1709269567000-018df9e4f1b87c3e9d0a5b6c7d8e9f00')
  .description('next_cursor of the previous page.');

export function buildListFilterSchema<Status extends string>(statuses: readonly Status[]) {
  return Joi.object<ListFilter<Status>>({
    status: caseInsensitive(statuses),
    ref_id: refId,
    start_date: isoDay,
    end_date: isoDay,
    limit: wholeNumber({ max: limits.pageSizeMax, standard: limits.pageSizeDefault }),
    cursor,
    tz,
  });
}

/**
 * Converts a list query to the arguments of `findDocumentPage`.
 * @throws ValidationError if the end is before the start.
 */
export function buildPageQuery<T extends { status: string }>(
  accountId: string,
  query: ListFilter<string>,
): [filter: PageFilter<T>, page: { after: string | undefined; limit: number }] {
  const { status, ref_id, start_date, end_date, limit, cursor } = query;
  const since = start_date === undefined ? undefined : getStartOfDay(start_date);
  const until = end_date === undefined ? undefined : getEndOfDay(end_date);
  requireChronological(since, until);
  const also = ref_id === undefined ? {} : { refId: ref_id };
  const fits = status === undefined ? undefined : (each: T) => each.status === status.toLowerCase();
  return [
    { accountId, since, until, also: also as never, fits },
    { after: cursor, limit },
  ];
}

export const nextCursor = Joi.string()
  .allow(null)
  .required()
  .description(
    'The `cursor` of the next page; null after the last page. A page can have fewer than `limit` entries and not be the last.',
  );

/** Body of the history calls of both roles (docs/reference/api/lists.md). */
export interface HistoryBody {
  status?: ShownStatus;
  start_date?: string;
  end_date?: string;
  page: number;
  limit: number;
  tz?: string;
}

export const historyFields = {
  status: filterStatus,
  start_date: isoDay,
  end_date: isoDay,
  page,
  limit: pageSize,
  tz,
};

/** Search fields that both roles have. */
export const searchFields = {
  code: productCode,
  sn: text(200)
    .min(1)
    .example('1234-5678-9012-3456-7890')
    .description('The whole serial number, or the 20 digits of a PLN token.'),
};

export interface SearchBody {
  code?: string;
  customer_number?: string;
  sn?: string;
}

/** Maps the search fields to the names of the domain. Undefined if none is set. */
export function toHistorySearch({ code, customer_number, sn }: SearchBody): HistorySearch | undefined {
  const isAnything = [code, customer_number, sn].some((each) => each !== undefined);
  return isAnything ? { productCode: code, customerNumber: customer_number, serialNumber: sn } : undefined;
}

/** Maps the body to the names of the domain. */
export function toHistoryQuery(body: HistoryBody) {
  return {
    status: body.status?.toLowerCase() as ShownStatus | undefined,
    startDate: body.start_date,
    endDate: body.end_date,
    page: body.page,
    limit: body.limit,
  };
}

/** The period that a history covers. Both ends are included. */
export const historyPeriod = nameSchema(
  'HistoryPeriod',
  Joi.object({ start_date: timestamp.required(), end_date: timestamp.required() }),
).description('Send both back with each further page, so that new transactions do not move its rows.');

/** Returns the `period` of a history. */
export function presentPeriod({ start, end }: Period, zone?: string) {
  return { start_date: formatIsoTime(start, zone), end_date: formatIsoTime(end, zone) };
}

/** Returns the `pagination` of a list. */
export function presentPagination(body: HistoryBody, total: number) {
  return { page: body.page, limit: body.limit, total, total_pages: Math.ceil(total / body.limit) };
}
