import Joi from 'joi';
import { filterStatus, isoDay, page, pageSize, tz } from './fields.js';
import type { ShownStatus } from '../purchases/shown-status.js';

/** Body of the history calls of both roles (docs/interface.md#history). */
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

export const historyBody = Joi.object<HistoryBody>(historyFields);

/** The same in the words of the domain. */
export function wantedBy(body: HistoryBody) {
  return {
    status: body.status?.toLowerCase() as ShownStatus | undefined,
    startDate: body.start_date,
    endDate: body.end_date,
    page: body.page,
    limit: body.limit,
  };
}

/** The `pagination` of a list. */
export function presentPage(body: HistoryBody, total: number) {
  return { page: body.page, limit: body.limit, total, total_pages: Math.ceil(total / body.limit) };
}
