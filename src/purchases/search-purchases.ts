import type { Filter } from 'mongodb';
import { normalizeCustomerNumber } from '../products/customer-number.js';
import { ProductModel } from '../products/product.model.js';
import { purchases, type Purchase } from './purchase.model.js';
import { listAccounts, type ListedAccount } from '../accounts/list-accounts.js';

const foundMax = 20;
/** A serial number is found by how it begins, from so many characters on. */
const serialNumberMin = 6;
/** The caller on the telephone acts on what is said. */
const majorityRead = { readConcern: 'majority' } as const;

/**
 * Purchases by what somebody on the telephone can say: our id, the client's ref_id, the customer number as it was sent
 * or as we keep it, the beginning of a serial number. At most 20, newest first; each by an index of its own.
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
 * The index is by product first: one place of it for each product of the catalogue. In its order, because many serial
 * numbers may begin alike: those would all have to be read to know the newest.
 */
async function findBySerialNumber(text: string): Promise<Purchase[]> {
  const products = await ProductModel.find({}, { _id: 1 }).lean();
  return purchases
    .find(
      {
        productCode: { $in: products.map(({ _id }) => _id) },
        // The type is what the index is limited to.
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
