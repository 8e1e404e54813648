import { requireAccount } from '../accounts/require-account.js';
import { parseDays } from '../shared/business-time.js';
import type { PurchaseFilter } from './page-of-purchases.js';

/** A filter as an operator says it: accounts by their usernames, days as YYYY-MM-DD of business time. */
export interface NamedPurchaseFilter extends Omit<
  PurchaseFilter,
  'accountId' | 'sellerId' | 'since' | 'until'
> {
  account?: string | undefined;
  seller?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** @throws NotFoundError for an account that does not exist. */
export async function resolvePurchaseFilter(named: NamedPurchaseFilter): Promise<PurchaseFilter> {
  const { account, seller, from, to, ...rest } = named;
  const [buyer, provider] = await Promise.all([
    account === undefined ? undefined : requireAccount(account),
    seller === undefined ? undefined : requireAccount(seller),
  ]);
  return { ...rest, accountId: buyer?._id, sellerId: provider?._id, ...parseDays({ from, to }) };
}
