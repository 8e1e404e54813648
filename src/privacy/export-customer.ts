import { accounts } from '../accounts/account.model.js';
import { recordAudit, type ChangedBy } from '../audit/record-audit.js';
import { toChargedBill } from '../bills/quotes.js';
import type { Quote } from '../bills/quote.model.js';
import type { Purchase } from '../purchases/purchase.model.js';
import { toShownStatus } from '../purchases/states.js';
import { maskNumber } from '../shared/mask.js';
import { findCustomer } from './find-customer.js';

export interface CustomerRecord {
  transactions: object[];
  bills: object[];
}

/**
 * Returns all stored data about a customer number, for a data subject's request: purchases with
 * buyer and seller, and bill inquiries. The audit log records the request with the last digits
 * only.
 */
export async function exportCustomer(number: string, by: ChangedBy): Promise<CustomerRecord> {
  const subject = { kind: 'customer' as const, id: maskNumber(number) };
  await recordAudit(null, { ...by, action: 'customer.export', subject });
  const found: { purchases: Purchase[]; quotes: Quote[] } = { purchases: [], quotes: [] };
  for await (const page of findCustomer(number)) {
    found.purchases.push(...page.purchases);
    found.quotes.push(...page.quotes);
  }
  const names = await findUsernamesById([...found.purchases, ...found.quotes]);
  return {
    transactions: found.purchases.map((each) => ({
      transaction_id: each._id,
      bought_by: names.get(each.accountId) ?? null,
      served_by: names.get(each.sellerId ?? '') ?? null,
      ref_id: each.refId,
      code: each.productCode,
      product_name: each.productName,
      customer_number: each.customerNumber,
      price: each.price,
      status: toShownStatus(each.status),
      sn: each.serialNumber,
      message: each.message,
      created_at: each.createdAt.toISOString(),
      final_at: each.finalAt?.toISOString() ?? null,
    })),
    bills: found.quotes.map((each) => ({
      asked_by: names.get(each.accountId) ?? null,
      answered_by: names.get(each.sellerId) ?? null,
      code: each.productCode,
      customer_number: each.customerNumber,
      customer_name: each.customerName,
      bill_period: each.billPeriod,
      total_amount: toChargedBill(each).totalAmount,
      paid_by: each.usedBy,
      created_at: each.createdAt.toISOString(),
    })),
  };
}

async function findUsernamesById(
  of: { accountId: string; sellerId: string | null }[],
): Promise<Map<string, string>> {
  const ids = [...new Set(of.flatMap(({ accountId, sellerId }) => [accountId, sellerId ?? accountId]))];
  const found = await accounts.find({ _id: { $in: ids } }, { projection: { username: 1 } }).toArray();
  return new Map(found.map(({ _id, username }) => [_id, username]));
}
