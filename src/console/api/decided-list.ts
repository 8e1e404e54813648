/** Lists of what an operator decides: what waits, the longest waiting first; or what fits a filter, newest first. */
import Joi from 'joi';
import type { Collection } from 'mongodb';
import type { CreationKey } from '../../database/creation-key.js';
import { findDocumentPage } from '../../database/page-of-documents.js';
import { listQuery, pageFields, buildPageFilter, type ListQuery } from './list-query.js';

const statuses = ['pending', 'completed', 'rejected'] as const;
type DecidedStatus = (typeof statuses)[number];

export interface DecidedQuery extends ListQuery {
  status: DecidedStatus | 'waiting' | 'all';
}

export const decidedQuery = Joi.object<DecidedQuery>({
  status: Joi.string()
    .valid('waiting', ...statuses, 'all')
    .default('waiting'),
  ...listQuery,
});

export const decidedStatus = Joi.string().valid(...statuses);

export const decidedPageFields = {
  ...pageFields,
  has_more: Joi.boolean().description('Of those that wait: more come up as these are decided.'),
};

export interface DecidedPage<T> {
  found: T[];
  /** As `decidedPageFields`. */
  page: { next: string | null; looked_back_to: string | null; has_more: boolean };
}

/** @param listPendingAdjustments Finds so many of those that wait, the longest waiting first. */
export async function findDecidedPage<T extends CreationKey & { accountId: string; status: DecidedStatus }>(
  query: DecidedQuery,
  collection: Collection<T>,
  listWaiting: (limit: number) => Promise<T[]>,
): Promise<DecidedPage<T>> {
  const { status, after, limit } = query;
  const filter = await buildPageFilter(query);
  const hasOtherFilter = Object.values(filter).some((each) => each !== undefined);
  if (status === 'waiting' && !hasOtherFilter) {
    const found = await listWaiting(limit + 1);
    return {
      found: found.slice(0, limit),
      page: { next: null, looked_back_to: null, has_more: found.length > limit },
    };
  }
  const wanted = status === 'waiting' ? 'pending' : status;
  const fits = wanted === 'all' ? undefined : (each: T) => each.status === wanted;
  const { found, next, lookedBackTo } = await findDocumentPage(
    collection,
    { ...filter, fits },
    { after, limit },
  );
  return { found, page: { next, looked_back_to: lookedBackTo?.toISOString() ?? null, has_more: false } };
}
