import type { Collection, Filter } from 'mongodb';
import { deposits, type Deposit } from '../deposits/deposit.model.js';
import { presentDeposit } from '../deposits/present-deposit.js';
import { collectionOf } from '../database/typed-collection.js';
import { isoTime } from '../shared/iso-time.js';
import { masked } from '../shared/mask.js';
import { shownStatus } from '../purchases/shown-status.js';
import { PurchaseModel, type Purchase } from '../purchases/purchase.model.js';
import type { depositColumns, purchaseColumns, RowOf, saleColumns } from './report-columns.js';
import type { Report } from './report.model.js';

/** A row as it is written: wire names, flat (see report-columns.ts). */
export type ReportRow =
  RowOf<typeof purchaseColumns> | RowOf<typeof saleColumns> | RowOf<typeof depositColumns>;

/** What a summary needs to know of a row. Rupiah. */
export interface Counted {
  amount: number;
  isSuccess: boolean;
  isFailed: boolean;
  commission: number;
  productCode: string | null;
  subcategory: string | null;
}

export interface SourceRow {
  row: ReportRow;
  counted: Counted;
}

const pageSize = 1_000;

/** The rows of a report, newest first, a page at a time: never more than a page in memory. */
export async function* reportPages(report: Report): AsyncGenerator<SourceRow[]> {
  if (report.type === 'deposit') {
    for await (const page of depositPages(report)) {
      yield page.map((deposit) => ({
        row: presentDeposit(deposit, report.zone),
        counted: countedDeposit(deposit),
      }));
    }
    return;
  }
  const rowOf = report.role === 'buyer' ? purchaseRow : saleRow;
  for await (const page of purchasePages(report)) {
    yield page.map((each) => ({ row: rowOf(each, report.zone), counted: countedPurchase(each) }));
  }
}

const purchaseFields = [
  'refId',
  'customerNumber',
  'productCode',
  'productName',
  'subcategory',
  'price',
  'status',
  'serialNumber',
  'commissionAmount',
  'createdAt',
] as const satisfies (keyof Purchase)[];
type PurchasePart = Pick<Purchase, '_id' | (typeof purchaseFields)[number]>;

function purchasePages(report: Report): AsyncGenerator<PurchasePart[]> {
  const isBuyer = report.role === 'buyer';
  return newestFirst(collectionOf<PurchasePart>(PurchaseModel), {
    owner: isBuyer ? { accountId: report.accountId } : { sellerId: report.accountId },
    period: report.period,
    fields: purchaseFields,
    index: isBuyer ? 'account_newest' : 'seller_newest',
  });
}

function depositPages(report: Report): AsyncGenerator<Deposit[]> {
  return newestFirst(deposits, {
    owner: { accountId: report.accountId },
    period: report.period,
    fields: ['refId', 'amount', 'balanceBefore', 'balanceAfter', 'status', 'createdAt'],
    index: 'account_newest_id',
  });
}

/**
 * Pages of an owner's documents, each found by where the one before ended. Unlike a cursor this leaves nothing
 * behind in the database when its process is killed, cannot time out and outlives a change of the primary. What orders them
 * never changes, so each document is seen once. Each is in a state that a majority holds: the file outlives a failover.
 */
async function* newestFirst<T extends { _id: string; createdAt: Date }>(
  collection: Collection<T>,
  query: {
    owner: Record<string, string>;
    period: Report['period'];
    fields: readonly (keyof T & string)[];
    /** Over owner, createdAt and _id. */
    index: string;
  },
): AsyncGenerator<T[]> {
  const { owner, period, fields, index } = query;
  const projection = Object.fromEntries(fields.map((field) => [field, 1]));
  let last: T | undefined;
  for (;;) {
    const filter = {
      ...owner,
      createdAt: { $gte: period.start, $lte: last?.createdAt ?? period.end },
      ...(last && { $or: [{ createdAt: { $lt: last.createdAt } }, { _id: { $lt: last._id } }] }),
    };
    const page: T[] = await collection
      .find(filter as unknown as Filter<T>, { limit: pageSize, hint: index, readConcern: 'majority' })
      .project<T>(projection)
      .sort({ createdAt: -1, _id: -1 })
      .toArray();
    yield page;
    last = page.at(-1);
    if (page.length < pageSize) {
      return;
    }
  }
}

function countedPurchase(purchase: PurchasePart): Counted {
  const isSuccess = purchase.status === 'SUCCESS';
  return {
    amount: purchase.price,
    isSuccess,
    isFailed: purchase.status === 'FAILED' || purchase.status === 'REFUNDED',
    commission: isSuccess ? (purchase.commissionAmount ?? 0) : 0,
    productCode: purchase.productCode,
    subcategory: purchase.subcategory,
  };
}

function countedDeposit(deposit: Deposit): Counted {
  return {
    amount: deposit.amount,
    isSuccess: deposit.status === 'completed',
    isFailed: deposit.status === 'rejected',
    commission: 0,
    productCode: null,
    subcategory: null,
  };
}

function purchaseRow(purchase: PurchasePart, zone?: string): RowOf<typeof purchaseColumns> {
  return {
    ref_id: purchase.refId,
    transaction_id: purchase._id,
    customer_number: purchase.customerNumber,
    code: purchase.productCode,
    product_name: purchase.productName,
    price: purchase.price,
    status: shownStatus(purchase.status),
    sn: purchase.serialNumber,
    timestamp: isoTime(purchase.createdAt, zone),
  };
}

/** A sale as its seller sees it, in history and reports: no buyer identity. */
export function saleRow(purchase: PurchasePart, zone?: string): RowOf<typeof saleColumns> {
  const { commissionAmount } = purchase;
  return {
    transaction_id: purchase._id,
    code: purchase.productCode,
    customer_number: masked(purchase.customerNumber),
    product_name: purchase.productName,
    price: purchase.price,
    commission_amount: commissionAmount,
    net_amount: commissionAmount === null ? null : purchase.price - commissionAmount,
    sn: purchase.serialNumber,
    status: shownStatus(purchase.status),
    timestamp: isoTime(purchase.createdAt, zone),
  };
}
