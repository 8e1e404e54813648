/**
 * A shop with two web processes, an operator who sets markups, and a buyer with a client for each
 * process.
 */
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { callerAs, reason, type Caller } from '../../console/support/console-caller.js';
import { startOperatedStack, type OperatedStack } from '../../console/support/operated-stack.js';
import { addProduct } from '../../providers/provider-stack.js';
import { apiClient, uniqueRef, type Answer, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';

export interface MarkupShop extends OperatedStack {
  caller: Caller;
  /** Clients of the same buyer, one for each process. */
  buyers: [ApiClient, ApiClient];
  sellerIds: string[];
  set(rule: Rule): Promise<void>;
  remove(rule: Omit<Rule, 'percent' | 'rupiah'>): Promise<void>;
  /** Puts a buyer into a price group. Null removes the buyer from its group. */
  put(username: string, group: string | null): Promise<void>;
  /** Removes all rules, and removes the buyer from its group. */
  removeAll(): Promise<void>;
  /**
   * Creates a product of the subcategory pulsa with one new seller for each price. Returns its
   * code.
   */
  product(...prices: number[]): Promise<string>;
  buy(code: string, wishes?: PurchaseOptions): Promise<Answer>;
  /** Buys the product and returns the debited price. */
  priceOf(code: string, wishes?: PurchaseOptions): Promise<number>;
  transaction(id: string): Promise<Document>;
  finalOf(answer: Answer): Promise<Document>;
}

export interface Rule {
  account?: string;
  group?: string;
  product?: string;
  category?: string;
  percent?: number;
  rupiah?: number;
}

interface PurchaseOptions {
  at?: ApiClient;
  refId?: string;
  customer?: string;
  maxPrice?: number;
}

/**
 * Opens the shop.
 * @param env Additional settings for all its processes.
 */
export async function openMarkupShop(env: NodeJS.ProcessEnv = {}): Promise<MarkupShop> {
  const shop = await startOperatedStack(env);
  const [other] = await Promise.all([shop.stack.startWeb(), shop.stack.startWorker('inquiries')]);
  const caller = await callerAs(shop, 'finance');
  const accounts = await shop.stack.db.collection('accounts').find({ role: 'seller' }).toArray();
  const sellerIds = ['seller', 'seller2'].map((name) =>
    String(accounts.find(({ username }) => username === name)?._id),
  );
  const transactions = shop.stack.db.collection<{ _id: string }>('transactions');

  async function change(path: string, body: object): Promise<void> {
    const answer = await caller.call(path, { ...body, reason });
    expect(answer.status, answer.text).to.equal(200);
  }
  // The operation requires an explicit target and an explicit scope.
  const buildBody = (rule: Omit<Rule, 'percent' | 'rupiah'>) => ({
    ...rule,
    ...(rule.account === undefined && rule.group === undefined && { everybody: true }),
    ...(rule.product === undefined && rule.category === undefined && { all: true }),
  });
  const marked: MarkupShop = {
    ...shop,
    caller,
    sellerIds,
    buyers: [shop.buyer, apiClient(other.url, shop.accounts['buyer']?.api_key ?? '')],
    set: (rule) => change('/markups', buildBody(rule)),
    remove: (rule) => change('/markups/remove', buildBody(rule)),
    put: (username, group) => change(`/accounts/${username}/group`, { group }),
    async removeAll() {
      await marked.put('buyer', null);
      const { markups } = await caller.ask('listMarkups', '/markups?limit=100');
      for (const { account, group, product, category } of markups) {
        await marked.remove({
          ...(account !== null && { account }),
          ...(group !== null && { group }),
          ...(product !== null && { product }),
          ...(category !== null && { category }),
        });
      }
    },
    product: (...prices) =>
      addProduct(
        shop.stack,
        prices.map((price, n) => ({ sellerId: sellerIds[n] ?? '', price })),
      ),
    buy: (code, { at = shop.buyer, refId = uniqueRef(), customer = '081234561230', maxPrice } = {}) =>
      at.post('/v1/transactions', {
        product_code: code,
        destination: customer,
        ref_id: refId,
        ...(maxPrice !== undefined && { max_price: maxPrice }),
      }),
    async priceOf(code, wishes) {
      const answer = await marked.buy(code, wishes);
      expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 201]);
      return answer.body.data.price as number;
    },
    async transaction(id) {
      const found = await transactions.findOne({ _id: id });
      return found ?? expect.fail(`no transaction ${id}`);
    },
    finalOf: (answer) =>
      eventually(
        'the purchase is final',
        () =>
          transactions.findOne({
            _id: String(answer.body.data.id ?? answer.body.data.transaction_id),
            finalAt: { $type: 'date' },
          }),
        60_000,
      ),
  };
  return marked;
}

/** Returns the buyer's balance in rupiah. */
export async function balanceOfWallet(shop: MarkupShop): Promise<number> {
  return (await shop.buyer.post('/api/buyer/balance')).body.data.balance as number;
}
