/** Markups in the console and on the command line: refusals and audit entries. */
import { expect } from 'chai';
import { topup } from '../support/topup.js';
import { reason } from './support/console-caller.js';
import { openMarkupShop, type MarkupShop } from '../products/markups/shop-with-markups.js';

describe('markups in the console', function () {
  this.timeout(120_000);
  let shop: MarkupShop;
  before(async () => {
    shop = await openMarkupShop();
  });
  after(() => shop.stack.stop());
  afterEach(() => shop.removeAll());

  const list = (query = '') => shop.caller.ask('listMarkups', `/markups${query}`);

  it('lists all rules or those of an account, with pages', async () => {
    const code = await shop.product(10_000);
    await shop.set({ account: 'buyer', category: 'Pulsa', percent: 1.5 });
    await shop.set({ product: code, rupiah: 500 });
    await shop.set({ rupiah: 100 });
    const { markups, next } = await list();
    expect(next).to.equal(null);
    expect(markups.map(({ changed_at: _, ...each }: { changed_at: string }) => each)).to.deep.equal([
      { account: null, group: null, product: null, category: null, percent: null, rupiah: 100 },
      { account: null, group: null, product: code, category: null, percent: null, rupiah: 500 },
      { account: 'buyer', group: null, product: null, category: 'pulsa', percent: 1.5, rupiah: null },
    ]);
    const pages: unknown[] = [];
    let after = '';
    do {
      const page = await list(`?limit=1${after}`);
      pages.push(...page.markups);
      after = page.next === null ? '' : `&after=${encodeURIComponent(page.next)}`;
    } while (after !== '');
    expect(pages).to.deep.equal(markups);
    expect((await list('?account=buyer')).markups).to.deep.equal(markups.slice(2));
    expect((await shop.caller.call('/markups?account=none-such')).status).to.equal(404);
  });

  it('audits actor, reason, before and after; a repeat changes nothing', async () => {
    const code = await shop.product(10_000);
    const subject = `* product ${code}`;
    const rule = { account: null, group: null, scope: 'product', of: code };
    await shop.set({ product: code, rupiah: 500 });
    expect(await shop.caller.expectAudited(subject, 'markup.set')).to.deep.include({
      before: null,
      after: { ...rule, percent: null, rupiah: 500 },
    });
    await shop.set({ product: code, percent: 2.25 });
    await shop.set({ product: code, percent: 2.25 });
    expect(await shop.caller.expectAudited(subject, 'markup.set')).to.deep.include({
      before: { ...rule, percent: null, rupiah: 500 },
      after: { ...rule, percent: 2.25, rupiah: null },
    });
    await shop.remove({ product: code });
    expect(await shop.caller.expectAudited(subject, 'markup.remove')).to.deep.include({
      before: { ...rule, percent: 2.25, rupiah: null },
      after: null,
    });
    expect(await shop.stack.db.collection('audit').countDocuments({ 'subject.id': subject })).to.equal(3);
  });

  it('refuses invalid markups and unknown products, categories and accounts', async () => {
    const code = await shop.product(10_000);
    for (const [body, status, words] of [
      [{ product: code }, 400, /percent|rupiah/],
      [{ product: code, percent: 1, rupiah: 1 }, 400, /percent|rupiah/],
      [{ product: code, category: 'pulsa', rupiah: 1 }, 400, /product|category/],
      [{ produkt: 'S10', percent: 1 }, 400, /produkt|all/],
      [{ percent: 1 }, 400, /product|all/],
      [{ acount: 'buyer', all: true, percent: 1 }, 400, /account|everybody/],
      [{ all: true, percent: 100.01 }, 400, /percent/],
      [{ all: true, percent: 1.005 }, 400, /percent/],
      [{ all: true, percent: -1 }, 400, /percent/],
      [{ all: true, rupiah: 1.5 }, 400, /whole rupiah/],
      [{ all: true, rupiah: -1 }, 400, /rupiah/],
      [{ all: true, rupiah: 1_000_000_001 }, 400, /rupiah/],
      [{ product: 'none-such', rupiah: 1 }, 404, /no product none-such/],
      [{ category: 'none-such', rupiah: 1 }, 404, /No product has the category none-such/],
      [{ account: 'none-such', all: true, rupiah: 1 }, 404, /none-such/],
      [{ account: 'seller', all: true, rupiah: 1 }, 400, /seller is a seller/],
    ] as const) {
      const target = 'account' in body || 'acount' in body ? {} : { everybody: true };
      const answer = await shop.caller.call('/markups', { ...target, ...body, reason });
      expect(answer.status, `${JSON.stringify(body)} ${answer.text}`).to.equal(status);
      expect(answer.text).to.match(words);
    }
    expect((await shop.caller.call('/markups/remove', { everybody: true, reason })).status).to.equal(400);
    const notFound = await shop.caller.call('/markups/remove', { everybody: true, product: code, reason });
    expect(notFound.status, notFound.text).to.equal(404);
    expect((await list()).markups).to.deep.equal([]);
  });

  it('topup markup changes the prices in the web processes', async () => {
    const code = await shop.product(10_000);
    const ofBuyer = ['--category', 'pulsa', '--account', 'buyer'];
    for (const [args, price] of [
      [['set', '--product', code, '--percent', '1.25'], 10_125],
      [['set', ...ofBuyer, '--rupiah', '2500'], 12_500],
      [['remove', ...ofBuyer], 10_125],
    ] as const) {
      const changed = await topup(['markup', ...args, '--reason', reason], shop.stack.env);
      expect(changed.code, changed.stderr).to.equal(0);
      expect(await shop.priceOf(code)).to.equal(price);
    }
  });
});
