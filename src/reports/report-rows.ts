import type { Collection, Filter } from 'mongodb';
import { deposits, type Deposit } from '../deposits/deposit.model.js';
import { presentDeposit } from '../deposits/present-deposit.js';
import { getCollection } from '../database/typed-collection.js';
import { formatIsoTime } from '../shared/business-time.js';
import { maskNumber } from '../shared/mask.js';
import { toShownStatus } from '../purchases/states.js';
import { PurchaseModel, type Purchase } from '../purchases/purchase.model.js';
import type { depositColumns, purchaseColumns, RowFor, saleColumns } from './report-columns.js';
import type { Report } from './report.model.js';

/** A row of a report file: wire names, flat (see report-columns.ts). */
export type ReportRow =
  RowFor<typeof purchaseColumns> | RowFor<typeof saleColumns> | RowFor<typeof depositColumns>;

/** The values of a row that summaries need. Amounts are in rupiah. */
export interface CountedRow {
  amount: number;
  isSuccess: boolean;
  isFailed: boolean;
  commission: number;
  productCode: string | null;
  subcategory: string | null;
}

export interface SourceRow {
  row: ReportRow;
  counted: CountedRow;
}

const pageSize = 1_000;

/** Yields the rows of a report in pages, newest first. Holds at most one page in memory. */
export async function* readReportPages(report: Report): AsyncGenerator<SourceRow[]> {
  if (report.type === 'deposit') {
    for await (const page of readDepositPages(report)) {
      yield page.map((deposit) => ({
        row: presentDeposit(deposit, report.zone),
        counted: countDeposit(deposit),
      }));
    }
    return;
  }
  const rowOf = report.role === 'buyer' ? buildPurchaseRow : buildSaleRow;
  for await (const page of readPurchasePages(report)) {
    yield page.map((each) => ({ row: rowOf(each, report.zone), counted: countPurchase(each) }));
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
  'message',
  'commissionAmount',
  'createdAt',
] as const satisfies (keyof Purchase)[];
type PurchasePart = Pick<Purchase, '_id' | (typeof purchaseFields)[number]>;

function readPurchasePages(report: Report): AsyncGenerator<PurchasePart[]> {
  const isBuyer = report.role === 'buyer';
  return readNewestFirst(getCollection<PurchasePart>(PurchaseModel), {
    owner: isBuyer ? { accountId: report.accountId } : { sellerId: report.accountId },
    period: report.period,
    fields: purchaseFields,
    index: isBuyer ? 'account_newest' : 'seller_newest',
  });
}

function readDepositPages(report: Report): AsyncGenerator<Deposit[]> {
  return readNewestFirst(deposits, {
    owner: { accountId: report.accountId },
    period: report.period,
    fields: ['refId', 'amount', 'balanceBefore', 'balanceAfter', 'status', 'createdAt'],
    index: 'account_newest_id',
  });
}

/**
 * Yields an owner's documents in pages; each page starts after the last document of the previous
 * page. Unlike a cursor, paging leaves nothing open when the process is killed, cannot time out,
 * and survives a failover.
 * The sort keys never change, so each document is returned once. Majority reads are required
 * because the file outlives a failover.
 */
async function* readNewestFirst<T extends { _id: string; createdAt: Date }>(
  collection: Collection<T>,
  query: {
    owner: Record<string, string>;
    period: Report['period'];
    fields: readonly (keyof T & string)[];
    /** Name of an index on owner, createdAt and _id. */
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

function countPurchase(purchase: PurchasePart): CountedRow {
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

function countDeposit(deposit: Deposit): CountedRow {
  return {
    amount: deposit.amount,
    isSuccess: deposit.status === 'completed',
    isFailed: deposit.status === 'rejected',
    commission: 0,
    productCode: null,
    subcategory: null,
  };
}

function buildPurchaseRow(purchase: PurchasePart, zone?: string): RowFor<typeof purchaseColumns> {
  return {
    ref_id: purchase.refId,
    transaction_id: purchase._id,
    customer_number: purchase.customerNumber,
    code: purchase.productCode,
    product_name: purchase.productName,
    price: purchase.price,
    status: toShownStatus(purchase.status),
    sn: purchase.serialNumber,
    timestamp: formatIsoTime(purchase.createdAt, zone),
    message: purchase.message,
  };
}

/**
 * Builds the row of a sale as its seller sees it, in history and reports, without the buyer's
 * identity.
 */
export function buildSaleRow(purchase: PurchasePart, zone?: string): RowFor<typeof saleColumns> {
  const { commissionAmount } = purchase;
  return {
    transaction_id: purchase._id,
    code: purchase.productCode,
    customer_number: maskNumber(purchase.customerNumber),
    product_name: purchase.productName,
    price: purchase.price,
    commission_amount: commissionAmount,
    net_amount: commissionAmount === null ? null : purchase.price - commissionAmount,
    sn: purchase.serialNumber,
    status: toShownStatus(purchase.status),
    timestamp: formatIsoTime(purchase.createdAt, zone),
  };
}
