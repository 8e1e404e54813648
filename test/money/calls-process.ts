/**
 * A process that runs domain functions of the service, which tests request over IPC. A test may
 * kill it at any time.
 */
import '../../src/all-models.js';
import { AdjustmentModel, type Adjustment } from '../../src/adjustments/adjustment.model.js';
import { approveAdjustment, rejectAdjustment } from '../../src/adjustments/decide-adjustment.js';
import { requestAdjustment } from '../../src/adjustments/request-adjustment.js';
import { createAccount } from '../../src/accounts/create-account.js';
import { getExistingAccount } from '../../src/accounts/find-account.js';
import { bySystem } from '../../src/audit/record-audit.js';
import { quotes } from '../../src/bills/quote.model.js';
import { migrate } from '../../src/database/migrate.js';
import { toInt64 } from '../../src/database/typed-collection.js';
import { connectMongo, UnknownOutcomeError } from '../../src/database/mongo.js';
import { createDeposit } from '../../src/deposits/create-deposit.js';
import { findLastClosedDay } from '../../src/money/closes/day-closes.js';
import { getLaneNumber } from '../../src/money/posting/lanes.js';
import { post } from '../../src/money/posting/post.js';
import type { Posting } from '../../src/money/posting/posting.js';
import { postSellerCredits } from '../../src/money/credits/seller-credits.js';
import { ProductModel } from '../../src/products/product.model.js';
import { acceptPurchase, createPurchase } from '../../src/purchases/accept/accept-purchase.js';
import { claimOrder } from '../../src/purchases/fulfil/order-transitions.js';
import { concludeFailure, concludeSuccess } from '../../src/purchases/fulfil/conclude-purchase.js';
import { fulfilPurchase } from '../../src/purchases/fulfil/fulfil-purchase.js';
import { buildOrder } from '../../src/purchases/fulfil/orders.js';
import { reverseSale } from '../../src/purchases/fulfil/reverse-sale.js';
import { OrderModel, type Order } from '../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../src/purchases/purchase.model.js';
import { isFinal, StalePurchaseError } from '../../src/purchases/states.js';
import { closeDay } from '../../src/reconciliation/closes/close-ledger.js';
import { verifyLedger } from '../../src/reconciliation/ledger/verify-ledger.js';
import { connectRedis, redis } from '../../src/redis/connection.js';
import { completeSettlement, failSettlement, payOut } from '../../src/settlements/pay-out.js';
import { requestSettlement } from '../../src/settlements/request-settlement.js';
import { SettlementModel, type Settlement } from '../../src/settlements/settlement.model.js';
import { addDays } from '../../src/shared/business-time.js';
import { ConflictError, DependencyError, InsufficientBalanceError } from '../../src/shared/errors.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { newId } from '../../src/shared/ids.js';
import { openShop } from '../jobs/sold-purchases.js';

/** Product codes in the test catalogue, one of each kind. Each call gives its own price. */
const modelProducts = { prepaid: 'MODEL', postpaid: 'MODELBILL' } as const;

export interface AskedRouted {
  accountId: string;
  productCode: string;
  refId: string;
  /** The request id of the call. */
  requestId: string;
}

export const calls = {
  async prepare() {
    await migrate();
    const common = {
      sellerId: 'none',
      subcategory: 'other',
      status: 'active',
      customerNumber: { kind: 'any' },
    } as const;
    await writeAndInvalidate([ProductModel], null, (products) =>
      products.create([
        { ...common, _id: modelProducts.prepaid, name: 'Prepaid', category: 'prabayar' },
        { ...common, _id: modelProducts.postpaid, name: 'Bill', category: 'pascabayar' },
      ]),
    );
  },

  /**
   * Creates two buyers with money and open bills, and a seller.
   * @param input.bills The amounts of the bills in rupiah.
   * @returns the account ids, the quotes and the first deposits.
   */
  async openBook({ bills, balance }: { bills: number[]; balance: number }) {
    const open = async (role: 'buyer' | 'seller') =>
      (await createAccount({ username: `m${newId()}`, role })).account._id;
    const [first, second, seller] = [await open('buyer'), await open('buyer'), await open('seller')];
    const asked = [first, second].flatMap((accountId) =>
      bills.map((amount) => ({ _id: newId(), accountId, amount })),
    );
    await quotes.insertMany(
      asked.map(({ _id, accountId, amount }) => ({
        _id,
        accountId,
        productCode: modelProducts.postpaid,
        customerNumber: '081234567890',
        sellerId: seller,
        status: 'open',
        customerName: 'A',
        billPeriod: '2026-01',
        totalBill: toInt64(amount),
        adminFee: toInt64(0),
        totalAmount: toInt64(amount),
        refusal: null,
        usedBy: null,
        createdAt: new Date(),
        expiresAt: new Date(Date.now() + 3_600_000),
      })),
    );
    const deposits = [];
    for (const accountId of [first, second]) {
      const refId = newId();
      deposits.push({ accountId, refId, ...(await calls.deposit({ accountId, refId, amount: balance })) });
    }
    return { buyers: [first, second] as [string, string], seller, quotes: asked, deposits };
  },

  /**
   * Creates a buyer with money, and a seller whose provider has this address. A purchase costs
   * 1,000 rupiah.
   */
  async openShop({ baseUrl, balance }: { baseUrl: string; balance: number }) {
    const { buyer, seller, productCode } = await openShop(baseUrl, { balance });
    return { buyerId: buyer._id, sellerId: seller._id, productCode };
  },
  /** Creates buyers in one lane with `balance` rupiah each. Their postings can share a group. */
  async openBuyersOfOneLane({ count, balance }: { count: number; balance: number }) {
    const ids: string[] = [];
    while (ids.length < count) {
      const { account } = await createAccount({ username: `l${newId()}`, role: 'buyer' });
      if (ids[0] === undefined || getLaneNumber(account._id) === getLaneNumber(ids[0])) {
        await createDeposit({ account, amount: balance, refId: newId() });
        ids.push(account._id);
      }
    }
    return ids;
  },
  async openBuyer({ balance }: { balance: number }) {
    const { account } = await createAccount({ username: `b${newId()}`, role: 'buyer' });
    await createDeposit({ account, amount: balance, refId: newId() });
    return account._id;
  },
  /**
   * Creates a seller without a provider and therefore without a queue. The tests conclude its
   * orders.
   */
  async openSeller() {
    return (await createAccount({ username: `s${newId()}`, role: 'seller' })).account._id;
  },

  async deposit(input: { accountId: string; amount: number; refId: string }) {
    const { deposit, created } = await createDeposit({
      ...input,
      account: await getExistingAccount(input.accountId),
    });
    return { id: deposit._id, created };
  },

  /** Buys a product or pays a bill at a known price. */
  async buy(input: {
    accountId: string;
    refId: string;
    price: number;
    sellerId: string;
    quoteId: string | null;
  }) {
    const { accountId, refId, price, sellerId, quoteId } = input;
    const kind = quoteId === null ? 'prepaid' : 'postpaid';
    const { purchase, created } = await acceptPurchase(
      kind,
      {
        account: await getExistingAccount(accountId),
        surface: 'buyer',
        productCode: modelProducts[kind],
        customerNumber: '081234567890',
        refId,
      },
      () => Promise.resolve({ price, offerSellerId: sellerId, quoteId }),
    );
    return { id: purchase._id, created };
  },
  /**
   * Buys a product through the routing rules.
   * @returns the purchase, with the request id of the call that created it as `madeBy`.
   */
  async buyRouted({ accountId, productCode, refId, requestId }: AskedRouted) {
    const account = await getExistingAccount(accountId);
    const { purchase, created } = await createPurchase({
      account,
      surface: 'buyer',
      productCode,
      customerNumber: '081234567890',
      refId,
      requestId,
    });
    return { id: purchase._id, created, madeBy: purchase.requestId };
  },
  async fulfil({ purchaseId }: { purchaseId: string }) {
    const { accountId } = await PurchaseModel.findById(purchaseId).lean<Purchase>().orFail();
    await fulfilPurchase({ purchaseId, accountId });
  },

  /** Claims an order, as a worker does before it sends the order. */
  async claim({ purchaseId, sellerId }: { purchaseId: string; sellerId: string }) {
    await claimed(await requirePurchase(purchaseId), sellerId);
  },
  /**
   * Concludes a purchase, as a worker does with this result.
   * @returns the status of the purchase.
   */
  async conclude(input: { purchaseId: string; sellerId: string; as: 'success' | 'failed' }) {
    const { purchaseId, as } = input;
    const purchase = await requirePurchase(purchaseId);
    if (isFinal(purchase.status)) {
      return purchase.status;
    }
    const { purchase: sent, order } = await claimed(purchase, input.sellerId);
    const answer = { code: as === 'success' ? '00' : '01', message: as };
    await (as === 'success'
      ? concludeSuccess(sent, order, { ...answer, serialNumber: newId() })
      : concludeFailure(sent, order, answer));
    return as === 'success' ? 'SUCCESS' : 'FAILED';
  },
  /**
   * Reverses a purchase.
   * @returns the status of the purchase.
   */
  async reverse({ purchaseId }: { purchaseId: string }) {
    const purchase = await requirePurchase(purchaseId);
    if (purchase.status !== 'SUCCESS') {
      return purchase.status;
    }
    await reverseSale(purchase, { message: 'taken back', by: bySystem });
    return 'REFUNDED';
  },
  post: (posting: Posting) => post(posting),
  async postCredits({ sellerId }: { sellerId: string }) {
    await postSellerCredits(sellerId);
  },

  /**
   * Requests a settlement.
   * @param input.mark The number of the bank account.
   */
  async settle(input: { sellerId: string; amount: number; refId: string | null; mark: string }) {
    const { settlement, created } = await requestSettlement({
      account: await getExistingAccount(input.sellerId),
      amount: input.amount,
      refId: input.refId,
      bankAccount: { bankCode: '014', accountNumber: input.mark, accountName: 'A' },
    });
    return { id: settlement._id, created };
  },
  /**
   * Ends a settlement.
   * @returns the status of the settlement.
   */
  async finish({ settlementId, as }: { settlementId: string; as: 'completed' | 'failed' | 'paid-out' }) {
    const found = async () => SettlementModel.findById(settlementId).lean<Settlement>().orFail();
    const { status, accountId } = await found();
    if (status === 'completed' || status === 'failed') {
      return status;
    }
    if (as === 'paid-out') {
      await payOut(settlementId, accountId);
      return (await found()).status;
    }
    return as === 'completed'
      ? (await completeSettlement(settlementId, bySystem)).status
      : (await failSettlement(settlementId, 'refused', bySystem)).status;
  },

  /**
   * Requests an adjustment as the first operator. A large adjustment needs approval.
   * @param input.mark The reason. It identifies the adjustment, which has no ref_id.
   */
  async adjust({ accountId, amount, mark }: { accountId: string; amount: number; mark: string }) {
    const account = await getExistingAccount(accountId);
    const by = { actor: 'operator:first', from: null, reason: mark };
    const { _id, balanceAfter } = await requestAdjustment({ account, amount }, by);
    return { id: _id, created: true, balanceAfter };
  },
  /**
   * Decides about an adjustment as the second operator.
   * @returns the status of the adjustment.
   */
  async decideAdjustment({ id, as }: { id: string; as: 'completed' | 'rejected' }) {
    const by = { actor: 'operator:second', from: null, reason: 'decided' };
    const decide = as === 'completed' ? approveAdjustment : rejectAdjustment;
    try {
      return (await decide(id, by)).adjustment.status;
    } catch (error) {
      const { status } = await AdjustmentModel.findById(id).lean<Adjustment>().orFail();
      // If the adjustment is no longer pending, another call has decided it. If it is, the balance
      // does not cover it.
      if (error instanceof ConflictError && status !== 'pending') {
        return status;
      }
      throw error;
    }
  },

  /**
   * Closes a day whose end is now, while other calls run. Each close uses the next day of an
   * artificial calendar, because a history takes only seconds. The clock of the close is an hour
   * ahead, so that a later write does not look like one with a wrong clock.
   */
  async close() {
    const last = await findLastClosedDay();
    const day = last === null ? '2001-01-01' : addDays(last._id, 1);
    const closed = await closeDay({ day, end: new Date(), now: new Date(Date.now() + 3_600_000) }, last);
    return { day: closed._id, root: closed.root };
  },

  verify: () => verifyLedger(() => undefined, { full: true }),
};

export type Calls = typeof calls;

/**
 * The reason why a call fails. `nothing-written` and `unknown` are the two meanings of 503/03.
 * `stale` means that another process was first. `unexpected` is an internal error.
 */
export type Refusal = 'insufficient' | 'conflict' | 'stale' | 'nothing-written' | 'unknown' | 'unexpected';

export type Answer<T> = { ok: true; value: T } | { ok: false; refusal: Refusal; message: string };

async function requirePurchase(id: string): Promise<Purchase> {
  return PurchaseModel.findById(id).lean<Purchase>().orFail();
}

async function claimed(purchase: Purchase, sellerId: string) {
  const orders = await OrderModel.find({ transactionId: purchase._id }).lean<Order[]>();
  const open = orders.find((each) => each.open);
  const provider = { kind: 'h2h' as const, baseUrl: 'http://127.0.0.1:9', username: 'us' };
  return open
    ? { purchase, order: open }
    : claimOrder(
        purchase,
        buildOrder({
          accountId: purchase.accountId,
          transactionId: purchase._id,
          n: orders.length + 1,
          sellerId,
          offerPrice: purchase.price,
          commissionRate: 0.02,
          provider,
        }),
      );
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof InsufficientBalanceError) {
    return 'insufficient';
  }
  if (error instanceof ConflictError) {
    return 'conflict';
  }
  if (error instanceof StalePurchaseError) {
    return 'stale';
  }
  if (error instanceof DependencyError) {
    // If a settlement has no ref_id, only the error message says that its outcome is unknown.
    const isUnknown = error instanceof UnknownOutcomeError || /outcome of .* is unknown/.test(error.message);
    return isUnknown ? 'unknown' : 'nothing-written';
  }
  return 'unexpected';
}

interface Asked {
  id: number;
  name: keyof Calls;
  input: never;
}

async function answer({ name, input }: Asked): Promise<Answer<unknown>> {
  try {
    return { ok: true, value: await calls[name](input) };
  } catch (error) {
    return { ok: false, refusal: refusalOf(error), message: String(error) };
  }
}

process.on('message', (asked: Asked) => {
  void answer(asked).then((reply) => process.send?.({ id: asked.id, answer: reply }));
});
process.on('disconnect', () => process.exit());
void main();

async function main(): Promise<void> {
  redis();
  await Promise.all([connectMongo(), connectRedis()]);
  process.send?.({ ready: true });
}
