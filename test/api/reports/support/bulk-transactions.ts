import { Long } from 'mongodb';
import { toShownStatus } from '../../../../src/purchases/states.js';
import type { Purchase, PurchaseStatus } from '../../../../src/purchases/purchase.model.js';
import type { Stack } from '../../../support/stack.js';
import { someTransaction } from '../../../webhooks/support/accounts.js';

const batchSize = 5_000;
const statuses: PurchaseStatus[] = ['SUCCESS', 'SUCCESS', 'SUCCESS', 'FAILED', 'REFUNDED', 'PROCESSING'];
/**
 * Period of the inserted transactions in milliseconds. It lies within the default period of a
 * report.
 */
const spanMs = 86_400_000;

export interface Bulk {
  buyerId: string;
  sellerId: string;
  count: number;
}

/** Sums over rows. Amounts in rupiah. */
export interface Sums {
  rows: number;
  total: number;
  success: number;
  successRows: number;
  failedRows: number;
  commission: number;
}

/**
 * Inserts `count` transactions in the format of the service, the newest last. Returns their sums.
 */
export async function insertTransactions({ db }: Pick<Stack, 'db'>, bulk: Bulk): Promise<Sums> {
  const from = Date.now() - spanMs;
  const sums = createEmptySums();
  for (let start = 0; start < bulk.count; start += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, bulk.count - start) }, (_, offset) =>
      transactionAt(start + offset, bulk, from),
    );
    for (const { status, price, commissionAmount } of batch) {
      addRow(sums, { status: toShownStatus(status), amount: price, commission: commissionAmount });
    }
    await db.collection('transactions').insertMany(batch.map(asStored) as never[], { ordered: false });
    if ((start + batchSize) % 100_000 === 0) {
      process.stdout.write(`      ${start + batchSize} transactions stored\n`);
    }
  }
  return sums;
}

function transactionAt(index: number, { buyerId, sellerId, count }: Bulk, from: number): Purchase {
  const status = statuses[index % statuses.length] ?? 'SUCCESS';
  const price = 5_000 + ((index * 7_919) % 95_000);
  const createdAt = new Date(from + Math.floor((index * spanMs) / count));
  return someTransaction({
    accountId: buyerId,
    sellerId,
    refId: buildRef(index),
    status,
    price,
    createdAt,
    updatedAt: createdAt,
    finalAt: status === 'PROCESSING' ? null : createdAt,
    serialNumber: status === 'SUCCESS' ? `SN-${index}` : null,
    commissionAmount: status === 'SUCCESS' ? Math.round(price / 50) : null,
  });
}

function asStored(transaction: Purchase) {
  const { price, commissionAmount } = transaction;
  return {
    ...transaction,
    price: Long.fromNumber(price),
    commissionAmount: commissionAmount === null ? null : Long.fromNumber(commissionAmount),
  };
}

export function buildRef(index: number): string {
  return `bulk-${index}`;
}

export function createEmptySums(): Sums {
  return { rows: 0, total: 0, success: 0, successRows: 0, failedRows: 0, commission: 0 };
}

/** Adds one row to the sums. `status` is the status that reports show. */
export function addRow(
  sums: Sums,
  { status, amount, commission }: { status: string; amount: number; commission: number | null },
): void {
  sums.rows += 1;
  sums.total += amount;
  sums.success += status === 'success' ? amount : 0;
  sums.successRows += status === 'success' ? 1 : 0;
  sums.failedRows += status === 'failed' ? 1 : 0;
  sums.commission += commission ?? 0;
}
