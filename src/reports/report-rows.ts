import { DepositModel, type Deposit } from '../wallets/deposit.model.js';
import { maskCustomerNumber } from '../transactions/mask-customer-number.js';
import { shownStatus } from '../transactions/shown-status.js';
import { TransactionModel, type Transaction } from '../transactions/transaction.model.js';
import type { Report } from './report.model.js';

/** A row as it is written: wire names, flat, in the order of the CSV's columns. */
export type ReportRow = Record<string, string | number | null>;

/** What a summary needs to know of a row. Rupiah. */
export interface Counted {
  amount: number;
  isSuccess: boolean;
  isFailed: boolean;
  commission: number;
  productCode: string | null;
  subcategory: string | null;
}

export interface ReportSource {
  columns: readonly string[];
  /** Oldest rows last, from a cursor: never more than a batch in memory. */
  rows(): AsyncIterable<{ row: ReportRow; counted: Counted }>;
}

const batchSize = 1_000;

/** Where a report's rows come from. Each query is served by an index on owner and time. */
export function reportSource(report: Report): ReportSource {
  switch (report.type) {
    case 'deposit':
      return { columns: depositColumns, rows: () => depositRows(report) };
    case 'transaction':
    case 'purchase':
    case 'sales':
    case 'product':
      return report.role === 'buyer'
        ? { columns: purchaseColumns, rows: () => transactionRows(report, purchaseRow) }
        : { columns: saleColumns, rows: () => transactionRows(report, saleRow) };
  }
}

const purchaseColumns = [
  'ref_id',
  'transaction_id',
  'customer_number',
  'code',
  'product_name',
  'price',
  'status',
  'sn',
  'timestamp',
] as const;
const saleColumns = [
  'transaction_id',
  'code',
  'customer_number',
  'product_name',
  'price',
  'commission_amount',
  'net_amount',
  'sn',
  'status',
  'timestamp',
] as const;
const depositColumns = [
  'ref_id',
  'amount',
  'balance_before',
  'balance_after',
  'status',
  'timestamp',
] as const;

async function* transactionRows(report: Report, toRow: (transaction: Transaction) => ReportRow) {
  const owner = report.role === 'buyer' ? { accountId: report.accountId } : { sellerId: report.accountId };
  const cursor = TransactionModel.find({
    ...owner,
    createdAt: { $gte: report.period.start, $lte: report.period.end },
  })
    .sort({ createdAt: -1, _id: -1 })
    .batchSize(batchSize)
    .lean<Transaction[]>()
    .cursor() as unknown as AsyncIterable<Transaction>;
  for await (const transaction of cursor) {
    yield { row: toRow(transaction), counted: countedOf(transaction) };
  }
}

async function* depositRows(report: Report) {
  const cursor = DepositModel.find({
    accountId: report.accountId,
    createdAt: { $gte: report.period.start, $lte: report.period.end },
  })
    .sort({ createdAt: -1 })
    .batchSize(batchSize)
    .lean<Deposit[]>()
    .cursor() as unknown as AsyncIterable<Deposit>;
  for await (const deposit of cursor) {
    yield {
      row: depositRow(deposit),
      counted: {
        amount: deposit.amount,
        isSuccess: deposit.status === 'completed',
        isFailed: false,
        commission: 0,
        productCode: null,
        subcategory: null,
      },
    };
  }
}

function countedOf(transaction: Transaction): Counted {
  const isSuccess = transaction.status === 'SUCCESS';
  return {
    amount: transaction.price,
    isSuccess,
    isFailed: transaction.status === 'FAILED' || transaction.status === 'REFUNDED',
    commission: isSuccess ? (transaction.commissionAmount ?? 0) : 0,
    productCode: transaction.productCode,
    subcategory: transaction.subcategory,
  };
}

function purchaseRow(transaction: Transaction): ReportRow {
  return {
    ref_id: transaction.refId,
    transaction_id: transaction._id,
    customer_number: transaction.customerNumber,
    code: transaction.productCode,
    product_name: transaction.productName,
    price: transaction.price,
    status: shownStatus(transaction.status),
    sn: transaction.serialNumber,
    timestamp: transaction.createdAt.toISOString(),
  };
}

/** A sale as its seller sees it, in history and reports: no buyer identity (decisions 14, 17.19). */
export function saleRow(transaction: Transaction): ReportRow {
  const { commissionAmount } = transaction;
  return {
    transaction_id: transaction._id,
    code: transaction.productCode,
    customer_number: maskCustomerNumber(transaction.customerNumber),
    product_name: transaction.productName,
    price: transaction.price,
    commission_amount: commissionAmount,
    net_amount: commissionAmount === null ? null : transaction.price - commissionAmount,
    sn: transaction.serialNumber,
    status: shownStatus(transaction.status),
    timestamp: transaction.createdAt.toISOString(),
  };
}

function depositRow(deposit: Deposit): ReportRow {
  return {
    ref_id: deposit.refId,
    amount: deposit.amount,
    balance_before: deposit.balanceBefore,
    balance_after: deposit.balanceAfter,
    status: deposit.status,
    timestamp: deposit.createdAt.toISOString(),
  };
}
