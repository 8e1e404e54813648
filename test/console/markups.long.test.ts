/**
 * Markups and price groups in the console and on the command line: lists, refusals and audit
 * entries.
 */
import { expect } from 'chai';
import { topup } from '../support/topup.js';
import { reason } from './support/console-caller.js';
import { openMarkupShop, type MarkupShop } from '../products/markups/shop-with-markups.js';

describe('markups and price groups in the console', function () {
  this.timeout(120_000);
  let shop: MarkupShop;
  before(async () => {
    shop = await openMarkupShop();
  });
  after(() => shop.stack.stop());
  afterEach(() => shop.removeAll());

  const groups = async (query = '') => shop.caller.ask('listPriceGroups', `/price-groups${query}`);
  const usernamesIn = async (group: string) =>
    (await shop.caller.ask('listAccounts', `/accounts?group=${group}`)).accounts.map(
      ({ username }: { username: string }) => username,
    );
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

  it('audits actor, reason, old and new values; a repeat changes nothing', async () => {
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

  it('moves a buyer into a group and out of it, audited; a repeat changes nothing', async () => {
    const { _id } = (await shop.stack.db.collection('accounts').findOne({ username: 'buyer' })) ?? {};
    const path = '/accounts/buyer/group';
    const to = (group: string | null) => shop.caller.ask('setPriceGroup', path, { group, reason });
    const shown = async () => (await shop.caller.ask('getAccount', '/accounts/buyer')).group as unknown;
    expect(await shown()).to.equal(null);
    expect(await to('kelas-1')).to.deep.equal({ changed: true });
    expect(await shop.caller.expectAudited(String(_id), 'account.set')).to.deep.include({
      before: { priceGroup: null },
      after: { priceGroup: 'kelas-1' },
    });
    expect(await to('kelas-1')).to.deep.equal({ changed: false });
    expect([await shown(), await usernamesIn('kelas-1')]).to.deep.equal(['kelas-1', ['buyer']]);
    expect(await to(null)).to.deep.equal({ changed: true });
    expect(await shop.caller.expectAudited(String(_id), 'account.set')).to.deep.include({
      before: { priceGroup: 'kelas-1' },
      after: { priceGroup: null },
    });
    expect([await shown(), await usernamesIn('kelas-1')]).to.deep.equal([null, []]);
  });

  it('refuses invalid group names, sellers and a rule with two owners', async () => {
    for (const group of ['', 'Kelas', 'kelas 1', '-kelas', 'kelas_1', 'k'.repeat(33), 7]) {
      const answer = await shop.caller.call('/accounts/buyer/group', { group, reason });
      expect(answer.status, String(group)).to.equal(400);
      const rule = await shop.caller.call('/markups', { group, all: true, rupiah: 1, reason });
      expect(rule.status, String(group)).to.equal(400);
    }
    const seller = await shop.caller.call('/accounts/seller/group', { group: 'kelas', reason });
    expect([seller.status, seller.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 400 && text.includes('seller is a seller'),
    );
    expect((await shop.caller.call('/accounts/buyer/group', { reason })).status).to.equal(400);
    expect((await shop.caller.call('/accounts/nobody/group', { group: 'x', reason })).status).to.equal(404);
    for (const whom of [
      { group: 'kelas', everybody: true },
      { group: 'kelas', account: 'buyer' },
    ]) {
      const answer = await shop.caller.call('/markups', { ...whom, all: true, rupiah: 1, reason });
      expect(answer.status, JSON.stringify(whom)).to.equal(400);
    }
    expect((await groups()).groups).to.deep.equal([]);
  });

  it('lists groups of rules and accounts with counts, by pages', async () => {
    await shop.set({ rupiah: 1 });
    await shop.set({ account: 'buyer', rupiah: 4 });
    await shop.set({ group: 'b', rupiah: 3 });
    await shop.set({ group: 'a-1', rupiah: 2 });
    await shop.set({ group: 'a-1', category: 'pulsa', rupiah: 2 });
    await shop.put('buyer', 'a');
    await shop.put('buyer2', 'b');
    const { markups } = await shop.caller.ask('listMarkups', '/markups');
    expect(
      markups.map(({ account, group }: { account: string | null; group: string | null }) => account ?? group),
    ).to.deep.equal([null, 'a-1', 'a-1', 'b', 'buyer']);
    expect((await shop.caller.ask('listMarkups', '/markups?group=a-1')).markups).to.have.length(2);
    expect((await shop.caller.ask('listMarkups', '/markups?group=a')).markups).to.deep.equal([]);
    const all = [
      { name: 'a', accounts: 1 },
      { name: 'a-1', accounts: 0 },
      { name: 'b', accounts: 1 },
    ];
    expect(await groups()).to.deep.equal({ groups: all, counted_max: 1_000, next: null });
    const pages: unknown[] = [];
    for (let after: string | null = ''; after !== null;) {
      const page = await groups(`?limit=1${after === '' ? '' : `&after=${after}`}`);
      expect(page.groups).to.have.length(1);
      pages.push(...page.groups);
      after = page.next;
    }
    expect(pages).to.deep.equal(all);
    await shop.put('buyer2', null);
  });

  it('finds, counts and names the accounts of a group by index', async () => {
    const accounts = shop.stack.db.collection('accounts');
    const plans = await Promise.all([
      accounts
        .find({ priceGroup: 'a', username: { $gt: '' } })
        .sort({ username: 1 })
        .explain('queryPlanner'),
      accounts.find({ priceGroup: 'a' }).explain('queryPlanner'),
      accounts
        .find({ priceGroup: { $gt: 'a' } })
        .sort({ priceGroup: 1 })
        .explain('queryPlanner'),
    ]);
    for (const plan of plans) {
      const winning = JSON.stringify(plan['queryPlanner'].winningPlan);
      expect(winning).to.include('"price_group"').and.not.include('SORT').and.not.include('COLLSCAN');
    }
  });

  it('topup moves buyers into groups, and warns about a group without accounts', async () => {
    const code = await shop.product(10_000);
    const run = (...args: string[]) => topup(args, shop.stack.env);
    const why = ['--reason', reason];
    const put = await run('account', 'group', 'buyer', 'grosir', ...why);
    expect([put.code, put.stdout.trim()], put.stderr).to.deep.equal([0, 'buyer is now in the group grosir.']);
    const rule = ['--product', code, '--group', 'grosir', '--rupiah', '2500'];
    const set = await run('markup', 'set', ...rule, ...why);
    expect([set.code, set.stdout], set.stderr).to.satisfy(
      ([status, text]: [number, string]) => status === 0 && text.includes('group grosir, product'),
    );
    expect(set.stdout).to.not.include('No account');
    const misspelt = ['--product', code, '--group', 'grosri'];
    const empty = await run('markup', 'set', ...misspelt, '--rupiah', '9', ...why);
    expect(empty.stdout).to.include(
      'No account is in grosri yet. Add one: topup account group <username> grosri',
    );
    await run('markup', 'remove', ...misspelt, ...why);
    expect(await shop.priceOf(code)).to.equal(12_500);
    expect((await run('markup', 'list')).stdout).to.match(/group grosir +product +\S+ +Rp 2\.500/);
    const own = await run('markup', 'list', '--group', 'grosir', '--json');
    expect(own.json<{ markups: object[] }>().markups).to.deep.equal([
      { account: null, group: 'grosir', scope: 'product', of: code, percent: null, rupiah: 2_500 },
    ]);
    expect((await run('account', 'list', '--group', 'grosir')).stdout)
      .to.include('buyer ')
      .and.not.include('buyer2');
    expect((await run('account', 'show', 'buyer')).stdout).to.match(/price group +grosir/);
    const out = await run('account', 'group', 'buyer', '--none', ...why);
    expect(out.stdout.trim()).to.equal('buyer is now in no group.');
    expect(await shop.priceOf(code)).to.equal(10_000);
  });
});
