/** A shop on a test clock: successful, failed and reversed purchases, deposits and withdrawals. */
import type { Account } from '../../../src/accounts/account.model.js';
import { bySystem } from '../../../src/audit/record-audit.js';
import { createDeposit } from '../../../src/deposits/create-deposit.js';
import type { Deposit } from '../../../src/deposits/deposit.model.js';
import { postSellerCredits } from '../../../src/money/credits/seller-credits.js';
import { concludeFailure, concludeSuccess } from '../../../src/purchases/fulfil/conclude-purchase.js';
import { claimOrder, type ClaimedOrder } from '../../../src/purchases/fulfil/order-transitions.js';
import { prepareNextOrder } from '../../../src/purchases/fulfil/orders.js';
import { reverseSale } from '../../../src/purchases/fulfil/reverse-sale.js';
import { findPurchase } from '../../../src/purchases/find-purchase.js';
import type { Purchase } from '../../../src/purchases/purchase.model.js';
import { completeSettlement, failSettlement } from '../../../src/settlements/pay-out.js';
import { requestSettlement } from '../../../src/settlements/request-settlement.js';
import type { Settlement } from '../../../src/settlements/settlement.model.js';
import { formatBusinessDay, addDays, getStartOfDay } from '../../../src/shared/business-time.js';
import { setClock } from '../../../src/shared/clock.js';
import { newId } from '../../../src/shared/ids.js';
import { openShop, type Shop } from '../../jobs/sold-purchases.js';

export interface Play {
  shop: Shop;
  buyer: Account;
  seller: Account;
  deposit(amount?: number): Promise<Deposit>;
  buy(): Promise<Purchase>;
  succeed(purchase: Purchase): Promise<void>;
  fail(purchase: Purchase): Promise<void>;
  reverse(purchase: Purchase): Promise<void>;
  /** Posts the seller's new credits to its wallet. */
  post(): Promise<void>;
  withdraw(amount?: number): Promise<Settlement>;
  pay(settlement: Settlement): Promise<Settlement>;
  giveBack(settlement: Settlement): Promise<Settlement>;
}

/** Opens the shop. The buyer's first deposit is made at the current time of the test clock. */
export async function openPlay(): Promise<Play> {
  // No provider listens at this address. The tests conclude the orders themselves.
  const shop = await openShop('http://127.0.0.1:9', { balance: 1_000_000 });
  const { buyer, seller } = shop;

  return {
    shop,
    buyer,
    seller,
    deposit: async (amount = 50_000) =>
      (await createDeposit({ account: buyer, amount, refId: newId() })).deposit,
    buy: shop.buy,
    async succeed(purchase) {
      const { purchase: sent, order } = await claimNextOrder(purchase);
      await concludeSuccess(sent, order, {
        code: '00',
        message: 'Sukses',
        serialNumber: `SN${purchase._id}`,
      });
    },
    async fail(purchase) {
      const { purchase: sent, order } = await claimNextOrder(purchase);
      await concludeFailure(sent, order, { code: '01', message: 'Gagal' });
    },
    async reverse(purchase) {
      const sold = await findPurchase(buyer._id, purchase._id);
      await reverseSale(sold, { message: 'Dibatalkan', by: bySystem });
    },
    post: () => postSellerCredits(seller._id),
    async withdraw(amount = 50_000) {
      const bankAccount = { bankCode: '014', accountNumber: '1234567890', accountName: 'PT Pulsa' };
      const { settlement } = await requestSettlement({
        account: seller,
        amount,
        bankAccount,
        refId: newId(),
      });
      return settlement;
    },
    pay: ({ _id }) => completeSettlement(_id, bySystem),
    giveBack: ({ _id }) => failSettlement(_id, 'Rekening salah', bySystem),
  };
}

/** Claims the purchase's next order, as a worker does before it sends the order. */
export async function claimNextOrder(purchase: Purchase): Promise<ClaimedOrder> {
  const order = await prepareNextOrder(purchase, []);
  if ('noRoute' in order) {
    throw new Error(`No route: ${order.noRoute.message}`);
  }
  return claimOrder(purchase, order);
}

/** Returns the business day (YYYY-MM-DD) `days` days ago. */
export function dayAgo(days: number): string {
  return addDays(formatBusinessDay(new Date()), -days);
}

/** Sets the test clock to a time on a business day. */
export function setTime(day: string, hour: number, minute = 0): void {
  const atMs = getStartOfDay(day).getTime() + (hour * 60 + minute) * 60_000;
  setClock(() => atMs);
}
