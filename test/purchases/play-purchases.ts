/** Moves purchases to every possible state with functions of the service. No provider is called. */
import { deepStrictEqual } from 'node:assert/strict';
import type { Account } from '../../src/accounts/account.model.js';
import { post } from '../../src/money/posting/post.js';
import { buildPurchase, buildPurchasePosting } from '../../src/purchases/accept/new-purchase.js';
import { claimOrder } from '../../src/purchases/fulfil/order-transitions.js';
import { concludeFailure, concludeSuccess } from '../../src/purchases/fulfil/conclude-purchase.js';
import { buildOrder } from '../../src/purchases/fulfil/orders.js';
import { reverseSale } from '../../src/purchases/fulfil/reverse-sale.js';
import { OrderModel, type Order } from '../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../src/purchases/purchase.model.js';
import { uniqueRef } from '../support/api-client.js';

export interface Parties {
  buyerIds: string[];
  sellerIds: string[];
}

/** Codes that are invalid as a document path, and names that every JavaScript object has. */
export const codes = ['S10', 'a.b$c', '$set', '__proto__', 'constructor', 'x_%2E'];

const dayMs = 86_400_000;

/** Makes a purchase on one of the last days and leaves it in a random state. */
export async function playPurchase(parties: Parties, random: () => number): Promise<void> {
  const pick = <T>(of: T[]) => of[Math.floor(random() * of.length)] as T;
  const code = pick(codes);
  const accepted: Purchase = {
    ...buildPurchase({
      accountId: pick(parties.buyerIds),
      refId: uniqueRef(),
      surface: 'buyer',
      kind: 'prepaid',
      customerNumber: '081234567890',
      price: 1_000 + Math.floor(random() * 9_000),
      offerSellerId: pick(parties.sellerIds),
      quoteId: null,
      callbackUrl: null,
      product: {
        _id: code,
        sellerId: pick(parties.sellerIds),
        name: 'Telkomsel 10.000',
        category: 'prabayar',
        subcategory: pick(codes),
        operator: 'Telkomsel',
        status: 'active',
        description: null,
        customerNumber: { kind: 'phone', prefixes: [] },
        cutOff: null,
        createdAt: new Date(),
        updatedAt: new Date(),
      },
    }),
    createdAt: new Date(Date.now() - Math.floor(random() * 6 * dayMs)),
  };
  deepStrictEqual((await post(buildPurchasePosting(accepted))).outcome, 'posted');
  await continuePurchase(accepted, parties, random);
}

async function continuePurchase(
  accepted: Purchase,
  { sellerIds }: Parties,
  random: () => number,
): Promise<void> {
  let purchase = accepted;
  let order: Order | null = null;
  const orders = Math.floor(random() * 4);
  for (let n = 1; n <= orders; n++) {
    const claimed = await claimOrder(
      purchase,
      orderOf(purchase, n, sellerIds[n % sellerIds.length] as string),
    );
    ({ purchase, order } = claimed);
    if (n < orders) {
      await OrderModel.updateOne({ _id: order._id }, { status: 'REJECTED', open: false, code: '01' });
    }
  }
  const end = random();
  if (order && end < 0.5) {
    await concludeSuccess(purchase, order, { code: '00', message: 'sold', serialNumber: null });
    if (end < 0.15) {
      const sold = await PurchaseModel.findById(purchase._id).orFail().lean<Purchase>();
      await reverseSale(sold, {
        message: 'taken back',
        by: { actor: 'test', from: null, reason: null },
      });
    }
  } else if (end < 0.8) {
    await concludeFailure(purchase, order, { code: '01', message: 'refused' });
  }
}

function orderOf(purchase: Purchase, n: number, sellerId: string): Order {
  return buildOrder({
    accountId: purchase.accountId,
    transactionId: purchase._id,
    n,
    sellerId,
    offerPrice: purchase.price,
    commissionRate: 0.02,
    provider: { kind: 'simulator', baseUrl: null, username: 'x' },
  });
}

/** Returns the account ids. */
export function idsOf(accounts: { account: Account }[]): string[] {
  return accounts.map(({ account }) => account._id);
}
