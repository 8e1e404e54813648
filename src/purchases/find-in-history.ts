import type { Filter } from 'mongodb';
import type { Snapshot } from '../database/mongo.js';
import { normalizeCustomerNumber } from '../products/customer-number.js';
import type { Period } from '../shared/business-time.js';
import { getTokenSpellings } from './pln-token.js';
import { purchases, type Purchase, type PurchaseStatus } from './purchase.model.js';

/** What an account looks for in its history; at least one of them. */
export interface HistorySearch {
  productCode?: string | undefined;
  /** As it was sent, or as we keep it. A seller never looks for it: it sees the end of the number alone. */
  customerNumber?: string | undefined;
  /** The whole of it, or the digits of a PLN token, with or without its hyphens. */
  serialNumber?: string | undefined;
}

/** Whose history it is: what was bought, or what was sold. */
export type HistoryOwner = { accountId: string } | { sellerId: string };

/** So many purchases are looked at, the newest first, however few of them fit: a call costs no more than that. */
const searchedMax = 5_000;

/**
 * One page of a buyer's purchases or a seller's sales that fit, newest first, and how many of those looked at do. Served by the
 * indexes account_serial_number, customer_newest or account_product_newest, of sellers seller_serial_number or
 * seller_product_newest; the status is compared here. All of it is of the moment of the caller's snapshot.
 */
export async function searchHistory(
  snapshot: Snapshot,
  wanted: HistorySearch & { owner: HistoryOwner; period: Period; statuses: readonly PurchaseStatus[] | null },
  { offset, limit }: { offset: number; limit: number },
): Promise<{ purchases: Purchase[]; total: number }> {
  const { owner, period, statuses } = wanted;
  const looked = await purchases
    .find<Pick<Purchase, '_id' | 'accountId' | 'status'>>(
      { ...owner, ...buildSearchFilter(wanted), createdAt: { $gte: period.start, $lte: period.end } },
      {
        ...snapshot,
        projection: { accountId: 1, status: 1 },
        sort: { createdAt: -1, _id: -1 },
        singleBatch: true,
        batchSize: searchedMax,
        limit: searchedMax,
      },
    )
    .toArray();
  const fitting = looked.filter(({ status }) => statuses === null || statuses.includes(status));
  const shown = fitting.slice(offset, offset + limit);
  const ids = shown.map(({ _id }) => _id);
  const accountIds = [...new Set(shown.map(({ accountId }) => accountId))];
  const found =
    ids.length === 0
      ? []
      : await purchases
          .find(
            { _id: { $in: ids }, accountId: { $in: accountIds } },
            { ...snapshot, singleBatch: true, batchSize: limit, limit },
          )
          .toArray();
  const byId = new Map(found.map((each) => [each._id, each]));
  return { total: fitting.length, purchases: ids.flatMap((id) => byId.get(id) ?? []) };
}

function buildSearchFilter({ productCode, customerNumber, serialNumber }: HistorySearch): Filter<Purchase> {
  return {
    ...(productCode !== undefined && { productCode }),
    ...(customerNumber !== undefined && {
      customerNumber: {
        $in: [...new Set([customerNumber, normalizeCustomerNumber('phone', customerNumber)])],
      },
    }),
    ...(serialNumber !== undefined && buildSerialNumberFilter(serialNumber)),
  };
}

/** The type is what the index is limited to. */
function buildSerialNumberFilter(serialNumber: string): Filter<Purchase> {
  const digits = serialNumber.replace(/[- ]/g, '');
  const spellings = /^\d{20}$/.test(digits) ? getTokenSpellings({ token: digits }) : [];
  const isIt = { serialNumber: { $type: 'string' as const, $eq: serialNumber } };
  return spellings.length === 0
    ? isIt
    : {
        $or: [
          isIt,
          // As a token stands before its owner's name: after a slash comes 0.
          ...spellings.map((each) => ({
            serialNumber: { $type: 'string' as const, $gte: `${each}/`, $lt: `${each}0` },
          })),
        ],
      };
}
