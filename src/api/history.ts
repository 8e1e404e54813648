import type { HistorySearch } from '../purchases/find-in-history.js';
import { filterStatus, isoDay, page, pageSize, productCode, text, tz } from './fields.js';
import type { ShownStatus } from '../purchases/shown-status.js';

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

/** By what both roles narrow it. */
export const searchFields = {
  code: productCode,
  sn: text(200)
    .min(1)
    .example('1234-5678-9012-3456-7890')
    .description('All of it, or the 20 digits of a PLN token.'),
};

export interface SearchBody {
  code?: string;
  customer_number?: string;
  sn?: string;
}

/** The same in the words of the domain; undefined: it is not narrowed. */
export function toHistorySearch({ code, customer_number, sn }: SearchBody): HistorySearch | undefined {
  const isAnything = [code, customer_number, sn].some((each) => each !== undefined);
  return isAnything ? { productCode: code, customerNumber: customer_number, serialNumber: sn } : undefined;
}

/** The same in the words of the domain. */
export function toHistoryQuery(body: HistoryBody) {
  return {
    status: body.status?.toLowerCase() as ShownStatus | undefined,
    startDate: body.start_date,
    endDate: body.end_date,
    page: body.page,
    limit: body.limit,
  };
}

/** The `pagination` of a list. */
export function presentPagination(body: HistoryBody, total: number) {
  return { page: body.page, limit: body.limit, total, total_pages: Math.ceil(total / body.limit) };
}
