import type { Filter } from 'mongodb';
import { normalizeCustomerNumber } from '../products/customer-number.js';
import { ProductModel } from '../products/product.model.js';
import { purchases, type Purchase } from './purchase.model.js';
import { listAccounts, type ListedAccount } from '../accounts/list-accounts.js';

const foundMax = 20;
/** Minimum length of a serial number prefix. */
const serialNumberMin = 6;
/** Callers act on the result, so a failover must not roll it back. */
const majorityRead = { readConcern: 'majority' } as const;

/**
 * Finds purchases by transaction id, ref_id, customer number (as sent or as stored) or serial
 * number prefix. Returns at most 20, newest first. Each term uses its own index.
 */
export async function searchPurchases(text: string): Promise<Purchase[]> {
  const numbers = [...new Set([text, normalizeCustomerNumber('phone', text)])];
  const found = await Promise.all([
    findNewest({ _id: text }),
    findNewest({ refId: text }),
    findNewest({ customerNumber: { $in: numbers } }),
    text.length < serialNumberMin ? [] : findBySerialNumber(text),
  ]);
  const byId = new Map(found.flat().map((each) => [each._id, each]));
  return [...byId.values()].sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime()).slice(0, foundMax);
}

/**
 * The index starts with the product, so there is one query per product of the catalogue. Results
 * stay in index order: sorting by age would read every match of a common prefix.
 */
async function findBySerialNumber(text: string): Promise<Purchase[]> {
  const products = await ProductModel.find({}, { _id: 1 }).lean();
  return purchases
    .find(
      {
        productCode: { $in: products.map(({ _id }) => _id) },
        // `$type` makes the query fit the partial index.
        serialNumber: { $type: 'string', $gte: text, $lt: `${text}\uffff` },
      },
      majorityRead,
    )
    .limit(foundMax)
    .toArray();
}

function findNewest(filter: Filter<Purchase>): Promise<Purchase[]> {
  return purchases.find(filter, majorityRead).sort({ _id: -1 }).limit(foundMax).toArray();
}

const accountsMax = 5;

export const searchLength = { min: 2, max: 100 };

/** Finds purchases (see searchPurchases), and accounts by username prefix. */
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
