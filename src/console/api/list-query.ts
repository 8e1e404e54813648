/** Query and page of the console's lists. */
import Joi from 'joi';
import { isoDay, text, timestamp, wholeNumber } from '../../api/contract/fields.js';
import { requireAccount } from '../../accounts/find-account.js';
import { type PageFilter, type CreationKey, findDocumentPage } from '../../database/document-page.js';
import { parseDays } from '../../shared/business-time.js';
import type { Collection } from 'mongodb';

export interface ListQuery {
  account?: string;
  from?: string;
  to?: string;
  after?: string;
  limit: number;
}

export const day = isoDay.length('YYYY-MM-DD'.length);

export const listQuery = {
  account: text(64),
  from: day,
  to: day,
  after: text(140),
  limit: wholeNumber({ max: 100, standard: 50 }),
};

export const pageFields = {
  next: Joi.string().allow(null).description('Value of `after` for the next page.'),
  looked_back_to: timestamp.allow(null).description('Start of the searched time, if the page is not full.'),
};

/**
 * Builds the account and date filter of a list.
 * @throws NotFoundError if the account does not exist.
 */
export async function buildPageFilter(
  query: Pick<ListQuery, 'account' | 'from' | 'to'>,
): Promise<Pick<PageFilter<unknown>, 'accountId' | 'since' | 'until'>> {
  const { account } = query;
  return {
    accountId: account === undefined ? undefined : (await requireAccount(account))._id,
    ...parseDays(query),
  };
}

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
  has_more: Joi.boolean().description('For pending items: more appear as these are decided.'),
};

export interface DecidedPage<T> {
  found: T[];
  /** The fields of `decidedPageFields`. */
  page: { next: string | null; looked_back_to: string | null; has_more: boolean };
}

/**
 * Finds a page of a list. The page holds either pending decisions, oldest first, or the documents
 * that match a filter, newest first.
 * @param listWaiting Finds up to `limit` pending documents, oldest first.
 */
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
  const { found, next, searchedBackTo } = await findDocumentPage(
    collection,
    { ...filter, fits },
    { after, limit },
  );
  return { found, page: { next, looked_back_to: searchedBackTo?.toISOString() ?? null, has_more: false } };
}
