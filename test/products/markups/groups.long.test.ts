/** Markups of price groups: their scope, their precedence, and buyers who change groups. */
import { expect } from 'chai';
import { md5Sign, pathOf } from '../../api/support/reseller.js';
import { sendCall } from '../../api/support/api.js';
import { apiClient, uniqueRef } from '../../support/api-client.js';
import { expectLedgerToHold, expectLedgerVerified } from '../../support/ledger.js';
import { sizes } from '../../support/sizes.js';
import { openMarkupShop, type MarkupShop } from './shop-with-markups.js';

describe('markups of price groups', function () {
  this.timeout(180_000);
  let shop: MarkupShop;
  /** One product for all tests, because price lists are cached. */
  let code: string;

  before(async () => {
    shop = await openMarkupShop();
    code = await shop.product(10_000);
  });
  after(() => shop.stack.stop());
  afterEach(async () => {
    await shop.removeAll();
    await expectLedgerToHold(shop.stack);
  });

  /** Returns the price in every list of both processes. */
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
      .flatMap((target) => scopes.map((scope) => ({ ...target, ...scope })))
      .map((rule, n) => ({ ...rule, rupiah: 100 - n }));
    await shop.put('buyer', 'kelas');
    // Rules of other groups, including names with a common prefix.
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
    // A rule of 0 % replaces wider rules. Rules of other accounts and products do not apply.
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
    const bill = { code: 'PLNPOST', customer_number: '12345671240' };
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
    expect(stored.filter(({ price, markup = 0 }) => Number(price) - Number(markup) !== 10_000)).to.deep.equal(
      [],
    );
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
