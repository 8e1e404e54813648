/** What every list of the console takes, and how a page of one answers. */
import Joi from 'joi';
import { isoDay, text, timestamp, wholeNumber } from '../../api/fields.js';
import { requireAccount } from '../../accounts/require-account.js';
import type { PageFilter } from '../../database/page-of-documents.js';
import { parseDays } from '../../shared/business-time.js';

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
  next: Joi.string().allow(null).description('The `after` of the next page.'),
  looked_back_to: timestamp.allow(null).description('How far back was looked, where the page is not full.'),
};

/** @throws NotFoundError for an account that does not exist. */
export async function buildPageFilter(
  query: Pick<ListQuery, 'account' | 'from' | 'to'>,
): Promise<Pick<PageFilter<unknown>, 'accountId' | 'since' | 'until'>> {
  const { account } = query;
  return {
    accountId: account === undefined ? undefined : (await requireAccount(account))._id,
    ...parseDays(query),
  };
}
