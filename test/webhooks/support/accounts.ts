import type { Account, Role } from '../../../src/accounts/account.model.js';
import { createAccount } from '../../../src/accounts/create-account.js';
import { newId } from '../../../src/shared/ids.js';
import type { Purchase } from '../../../src/purchases/purchase.model.js';
import { buildPurchaseDeliveries } from '../../../src/purchases/purchase-notifications.js';
import { runInTransaction } from '../../../src/database/mongo.js';
import { insertDeliveries } from '../../../src/webhooks/new-delivery.js';
import type { Delivery } from '../../../src/webhooks/deliver/delivery.model.js';

export interface TestAccount {
  account: Account;
  secret: string;
}

export async function newAccount(
  urls: { webhookUrl?: string; callbackUrl?: string } = {},
  role: Role = 'buyer',
): Promise<TestAccount> {
  const created = await createAccount({ username: `t-${newId().slice(8)}`, role, ...urls });
  return { account: created.account, secret: created.webhookSecret };
}

/** Builds a purchase without storing it in the database. */
export function someTransaction(over: Partial<Purchase> = {}): Purchase {
  const createdAt = new Date();
  const id = newId();
  return {
    _id: id,
    accountId: newId(),
    refId: `ref-${id}`,
    surface: 'buyer',
    kind: 'prepaid',
    productCode: 'S10',
    productName: 'Telkomsel 10.000',
    subcategory: 'pulsa',
    customerNumber: '081234561230',
    customerRule: 'phone',
    price: 10_500,
    offerSellerId: newId(),
    quoteId: null,
    status: 'SUCCESS',
    version: 2,
    serialNumber: 'SN-0001',
    message: null,
    failureCode: null,
    sellerId: null,
    commissionAmount: null,
    callbackUrl: null,
    epoch: 0,
    nextActionAt: null,
    queuedFor: null,
    reviewSince: null,
    pendingNotified: false,
    createdAt,
    updatedAt: createdAt,
    finalAt: createdAt,
    ...over,
  };
}

/** Stores delivery rows in a database transaction, as the service does. */
export async function storeDeliveries(rows: Delivery[]): Promise<Delivery[]> {
  await runInTransaction((session) => insertDeliveries(session, rows));
  return rows;
}

/** Stores the webhook for a successful purchase of this buyer. */
export async function storeSuccess(buyer: Account): Promise<Delivery> {
  const purchase = someTransaction({ accountId: buyer._id });
  const [row] = await storeDeliveries(
    buildPurchaseDeliveries({ purchase, buyer, seller: null, event: 'success' }),
  );
  if (!row) {
    throw new Error('no row');
  }
  return row;
}
