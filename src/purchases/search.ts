import { listAccounts, type ListedAccount } from '../accounts/list-accounts.js';
import type { Purchase } from './purchase.model.js';
import { searchPurchases } from './search-purchases.js';

const accountsMax = 5;

/** So many characters say something. */
export const searchLength = { min: 2, max: 100 };

/** What somebody on the telephone can name: purchases (see searchPurchases), and accounts by how their usernames begin. */
export async function searchPurchasesAndAccounts(
  words: string,
): Promise<{ purchases: Purchase[]; accounts: ListedAccount[] }> {
  const wanted = words.trim();
  const [purchases, accounts] = await Promise.all([
    searchPurchases(wanted),
    listAccounts({ prefix: wanted.toLowerCase(), limit: accountsMax }),
  ]);
  return { purchases, accounts };
}
