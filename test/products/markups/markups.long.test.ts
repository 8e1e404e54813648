/**
 * Markups on sellers' prices: scope and precedence (including price groups), and the prices that
 * buyers see and pay. Sellers' credits do not change.
 */
import { expect } from 'chai';
import { computeCommission } from '../../../src/money/commission.js';
import { md5Sign, pathOf } from '../../api/support/reseller.js';
import { sendCall } from '../../api/support/api.js';
import { apiClient, uniqueRef } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../../support/ledger.js';
import { sizes } from '../../support/sizes.js';
import { topup } from '../../support/topup.js';
import { balanceOfWallet, openMarkupShop, type MarkupShop } from './shop-with-markups.js';

const rate = 0.02;

describe('markups', function () {
  this.timeout(180_000);
  let shop: MarkupShop;

  before(async () => {
    shop = await openMarkupShop();
  });
  after(() => shop.stack.stop());
  afterEach(async () => {
    await shop.removeAll();
    await expectLedgerToBalance(shop.stack);
  });

  it("compute a percentage of the seller's price, rounded up to rupiah", async () => {
    const code = await shop.product(10_001);
    for (const [percent, added] of [
      [0.01, 2],
      [1.25, 126],
      [33.33, 3_334],
      [100, 10_001],
      [0, 0],
    ] as const) {
      await shop.set({ product: code, percent });
      expect(await shop.priceOf(code), String(percent)).to.equal(10_001 + added);
    }
  });

  it('leave the credit of the seller unchanged and go to the platform', async () => {
    const code = await shop.product(10_000);
    const without = await shop.finalOf(await shop.buy(code));
    await shop.set({ product: code, rupiah: 777 });
    const sold = await shop.finalOf(await shop.buy(code));
    expect(sold).to.include({ status: 'SUCCESS', price: 10_777, markup: 777 });
    expect(sold['commissionAmount']).to.equal(computeCommission(10_000, rate) + 777);
    expect(without).to.not.have.property('markup');
    const credits = shop.stack.db.collection<{ _id: string; amount: number }>('sellerCredits');
    const [first, second] = await Promise.all(
      [without, sold].map(({ _id }) => credits.findOne({ _id: String(_id) })),
    );
    expect(second?.amount)
      .to.equal(first?.amount)
      .and.to.equal(10_000 - computeCommission(10_000, rate));
    await expectLedgerVerified(shop.stack);
  });

  it('are returned exactly by refunds and reversals after rule changes', async () => {
    const code = await shop.product(10_000);
    const balance = () => balanceOfWallet(shop);
    await shop.set({ product: code, percent: 12.34 });
    const before = await balance();
    const refused = await shop.buy(code, { customer: '081234561232' });
    const sold = await shop.finalOf(await shop.buy(code));
    expect(sold['price']).to.equal(11_234);
    await shop.set({ product: code, rupiah: 1 });
    expect(await shop.finalOf(refused)).to.include({ status: 'FAILED', price: 11_234 });
    expect(await balance()).to.equal(before - 11_234);
    const reversed = await topup(
      ['review', 'reverse', String(sold['_id']), '--reason', 'wrong number'],
      shop.stack.env,
    );
    expect(reversed.code, reversed.stderr).to.equal(0);
    expect(await balance()).to.equal(before);
    await expectLedgerVerified(shop.stack);
  });

  it('are never used to pay a more expensive seller', async () => {
    // The second offer costs more than the first, but less than the debited price.
    const code = await shop.product(10_000, 10_400);
    await shop.set({ product: code, rupiah: 500 });
    const failed = await shop.finalOf(await shop.buy(code, { customer: '081234561232' }));
    expect(failed).to.include({ status: 'FAILED', price: 10_500 });
    const orders = await shop.stack.db
      .collection('attempts')
      .find({ transactionId: String(failed['_id']) })
      .toArray();
    expect(orders.map(({ offerPrice }) => offerPrice)).to.deep.equal([10_000]);
  });

  it('are included in max_price, the insufficient balance and statements', async () => {
    const code = await shop.product(10_000);
    await shop.set({ product: code, rupiah: 500 });
    const above = await shop.buy(code, { maxPrice: 10_499 });
    expect([above.status, above.body.reason]).to.deep.equal([409, 'price_above_max']);
    expect(above.body.message).to.include('10500');
    const ref = uniqueRef();
    expect(await shop.priceOf(code, { maxPrice: 10_500, refId: ref })).to.equal(10_500);
    const { body } = await shop.buyer.get('/api/buyer/statement?limit=100');
    const entry = body.data.entries.find((each: { ref_id: string }) => each.ref_id === ref);
    expect(entry.amount).to.equal(-10_500);
    const dear = await shop.product(40_000_000);
    await shop.set({ product: dear, percent: 100 });
    const short = await shop.buy(dear);
    expect(short.status).to.equal(402);
    expect(short.body.data_hint).to.include({ price: 80_000_000 });
  });

  it('keep the first price for a repeated ref_id after rule changes', async () => {
    const code = await shop.product(10_000);
    await shop.set({ product: code, rupiah: 250 });
    const refId = uniqueRef();
    expect(await shop.priceOf(code, { refId })).to.equal(10_250);
    await shop.set({ product: code, rupiah: 9_999 });
    for (const at of shop.buyers) {
      expect(await shop.priceOf(code, { refId, at, maxPrice: 10_000 })).to.equal(10_250);
    }
    await shop.remove({ product: code });
    expect(await shop.priceOf(code, { refId })).to.equal(10_250);
    expect(await shop.stack.db.collection('transactions').countDocuments({ refId })).to.equal(1);
  });

  it('are part of fee and total of a bill and fixed at its inquiry', async () => {
    const bill = { code: 'PLNPOST', customer_number: '12345671240' };
    const ask = async (given = bill) => {
      const answer = await shop.buyer.post('/api/buyer/inquiry', given);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      return answer.body.data as { total_bill: number; admin_fee: number; total_amount: number };
    };
    const without = await ask();
    await shop.set({ category: 'pascabayar', rupiah: 2_500 });
    const asked = await ask();
    expect(asked).to.include({
      total_bill: without.total_bill,
      admin_fee: without.admin_fee + 2_500,
      total_amount: without.total_amount + 2_500,
    });
    await shop.set({ category: 'pascabayar', rupiah: 9_000 });
    const pay = (given: object) =>
      shop.buyer.post('/api/buyer/payment', { ...bill, ref_id: uniqueRef(), ...given });
    const above = await pay({ max_price: asked.total_amount - 1 });
    expect(above.status, JSON.stringify(above.body)).to.equal(409);
    const paid = await shop.finalOf(await pay({ max_price: asked.total_amount }));
    expect(paid).to.include({ status: 'SUCCESS', price: asked.total_amount, markup: 2_500 });
    const order = await shop.stack.db.collection('attempts').findOne({ transactionId: String(paid['_id']) });
    expect(order?.['offerPrice']).to.equal(without.total_amount);
    // The purchase has no quote, so the current markup rule applies.
    const other = { code: 'PLNPOST', customer_number: '12345681240' };
    const direct = await shop.finalOf(await pay(other));
    expect(direct).to.include({ status: 'SUCCESS', markup: 9_000 });
    await expectLedgerVerified(shop.stack);
  });

  it('are shown to operators for each purchase', async () => {
    const code = await shop.product(10_000);
    await shop.set({ product: code, rupiah: 321 });
    const { _id } = await shop.finalOf(await shop.buy(code));
    // The console shows a final state once a majority of the replica set holds it.
    const shown = await eventually('the console shows the final state', async () => {
      const found = await shop.caller.ask('getPurchase', `/purchases/${String(_id)}`);
      return found.commission !== null && found;
    });
    expect(shown).to.include({ markup: 321, commission: computeCommission(10_000, rate) + 321 });
    const result = await eventually('the command succeeds', async () =>
      topup(['transaction', 'show', String(_id)], shop.stack.env),
    );
    expect(result.stdout).to.match(/markup\s+Rp 321/);
  });

  describe('of price groups', () => {
    /** One product code for all tests, because price lists are cached. */
    let code: string;

    before(async () => {
      code = await shop.product(10_000);
    });

    /** Returns the product's price in every list of both processes. */
    const listed = async () => {
      const key = shop.accounts['buyer']?.api_key ?? '';
      const sign = md5Sign({ username: 'buyer', key }, 'pricelist');
      const lists = [
        ...(await Promise.all(shop.buyers.map((each) => each.get('/v1/products')))),
        ...(await Promise.all(shop.buyers.map((each) => each.post('/api/buyer/price-list', {})))),
        await sendCall(shop.stack.baseUrl, { path: pathOf('price-list', { username: 'buyer', sign }) }),
      ];
      return lists.map(
        ({ body }) =>
          (body.data as { code: string; price: number }[]).find((each) => each.code === code)?.price,
      );
    };
    const expectPrice = async (price: number, what: string) => {
      expect(new Set(await listed()), what).to.deep.equal(new Set([price]));
      for (const at of shop.buyers) {
        expect(await shop.priceOf(code, { at }), what).to.equal(price);
      }
    };

    it('apply one rule: account, then group, then all; narrowest scope first', async () => {
      const scopes = [{}, { category: 'prabayar' }, { category: 'PULSA' }, { product: code }];
      const rules = [{}, { group: 'kelas' }, { account: 'buyer' }]
        .flatMap((whose) => scopes.map((scope) => ({ ...whose, ...scope })))
        .map((rule, n) => ({ ...rule, rupiah: 100 - n }));
      await shop.put('buyer', 'kelas');
      // Set rules for other groups. Some of their names have a common prefix with the buyer's
      // group.
      for (const group of ['kela', 'kelas-2', 'kelas2']) {
        await shop.set({ group, product: code, rupiah: 5 });
      }
      const other = apiClient(shop.stack.baseUrl, shop.accounts['buyer2']?.api_key ?? '');
      for (const rule of rules) {
        await shop.set(rule);
        await expectPrice(10_000 + rule.rupiah, JSON.stringify(rule));
      }
      const { body } = await other.get('/v1/products');
      const [shown] = body.data.filter((each: { code: string }) => each.code === code);
      expect(shown.price, 'price outside every group').to.equal(10_097);
      // A rule of 0 % overrides wider rules. Rules for other accounts or products have no effect.
      await shop.set({ account: 'buyer', product: code, percent: 0 });
      await expectPrice(10_000, 'own rule of 0 %');
      await shop.set({ account: 'buyer', product: code, rupiah: 89 });
      await shop.set({ account: 'buyer2', product: code, rupiah: 1 });
      await shop.set({ product: 'S10', rupiah: 2 });
      await shop.set({ category: 'pascabayar', rupiah: 3 });
      for (const [n, { rupiah: _, ...rule }] of [...rules.entries()].reverse()) {
        await shop.remove(rule);
        expect(await shop.priceOf(code)).to.equal(10_000 + (rules[n - 1]?.rupiah ?? 0));
      }
      await shop.put('buyer', null);
      await expectPrice(10_000, 'none');
    });

    it('apply a group change to the next call in both processes', async () => {
      await shop.set({ product: code, rupiah: 5 });
      await shop.set({ group: 'satu', product: code, rupiah: 10 });
      await shop.set({ group: 'dua', product: code, rupiah: 20 });
      const refId = uniqueRef();
      await shop.put('buyer', 'satu');
      expect(await shop.priceOf(code, { refId })).to.equal(10_010);
      for (const [group, added] of [
        ['dua', 20],
        ['satu', 10],
        [null, 5],
        ['tiga', 5],
        ['dua', 20],
      ] as const) {
        await shop.put('buyer', group);
        await expectPrice(10_000 + added, String(group));
      }
      for (const at of shop.buyers) {
        expect(await shop.priceOf(code, { refId, at, maxPrice: 10_010 })).to.equal(10_010);
      }
    });

    it('fix the markup of a bill at its inquiry by the current group', async () => {
      const bill = { code: 'PLNPOST', customer_number: '12345691240' };
      const ask = async () => {
        const answer = await shop.buyer.post('/api/buyer/inquiry', bill);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        return answer.body.data.total_amount as number;
      };
      await shop.set({ group: 'satu', category: 'pascabayar', rupiah: 1_000 });
      await shop.set({ group: 'dua', category: 'pascabayar', rupiah: 3_000 });
      const without = await ask();
      for (const [group, added] of [
        ['satu', 1_000],
        ['dua', 3_000],
        ['satu', 1_000],
      ] as const) {
        await shop.put('buyer', group);
        expect(await ask(), group).to.equal(without + added);
      }
      await shop.put('buyer', 'dua');
      const paid = await shop.buyer.post('/api/buyer/payment', { ...bill, ref_id: uniqueRef() });
      const final = await shop.finalOf(paid);
      expect(final).to.include({ status: 'SUCCESS', price: without + 1_000, markup: 1_000 });
      await expectLedgerVerified(shop.stack);
    });

    it('apply exactly one rule to each purchase during changes @sized', async () => {
      const sold = await shop.product(10_000);
      await shop.set({ group: 'satu', rupiah: 100 });
      await shop.set({ group: 'dua', rupiah: 10_000 });
      let isOver = false;
      const debited: number[] = [];
      const storm = shop.buyers.map(async (at) => {
        while (!isOver) {
          debited.push(await shop.priceOf(sold, { at }));
        }
      });
      const possible = new Set([10_000]);
      for (let n = 1; n <= sizes.markupChanges; n += 1) {
        const [group, rupiah] = n % 2 === 0 ? ['dua', 10_000 + n] : ['satu', 100 + n];
        possible.add(10_000 + rupiah);
        possible.add(20_000).add(10_100);
        await Promise.all([shop.set({ group, rupiah }), shop.put('buyer', group)]);
        for (const at of shop.buyers) {
          expect(await shop.priceOf(sold, { at })).to.equal(10_000 + rupiah);
        }
      }
      isOver = true;
      await Promise.all(storm);
      expect(debited.length).to.be.greaterThan(sizes.markupChanges);
      expect(debited.filter((price) => !possible.has(price))).to.deep.equal([]);
      const stored = await shop.stack.db.collection('transactions').find({ productCode: sold }).toArray();
      expect(
        stored.filter(({ price, markup = 0 }) => Number(price) - Number(markup) !== 10_000),
      ).to.deep.equal([]);
      await expectLedgerVerified(shop.stack);
    });

    it('show buyers the prices but not the group', async () => {
      const group = `rahasia-${uniqueRef()
        .toLowerCase()
        .replace(/[^a-z0-9]/g, '')
        .slice(-12)}`;
      await shop.set({ group, product: code, rupiah: 40 });
      await shop.put('buyer', group);
      const { body } = await shop.buy(code);
      const answers = await Promise.all([
        shop.buyer.get('/api/buyer/api/config'),
        shop.buyer.get('/v1/products'),
        shop.buyer.get(`/v1/transactions/${String(body.data.id)}`),
        shop.buyer.get('/api/buyer/statement?limit=100'),
        shop.buyer.get('/api/buyer/requests'),
      ]);
      for (const answer of answers) {
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      }
      const seen = JSON.stringify([body, ...answers.map((each) => each.body)]);
      expect(seen).to.include(code).and.to.not.include(group).and.not.include('priceGroup');
    });
  });
});
