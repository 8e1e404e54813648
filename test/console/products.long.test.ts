/** Products in the console and on the command line: margins, and changes one by one or by list. */
import { expect } from 'chai';
import { Long } from 'mongodb';
import { limits } from '../../config/limits.js';
import { computeCommission } from '../../src/money/commission.js';
import { addProduct } from '../providers/provider-stack.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { topup } from '../support/topup.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';

describe('products in the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let caller: Caller;
  let sellers: string[];

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'operations');
    const found = await shop.stack.db.collection('accounts').find({ role: 'seller' }).toArray();
    sellers = ['seller', 'seller2'].map((name) =>
      String(found.find(({ username }) => username === name)?._id),
    );
  });
  after(() => shop.stack.stop());

  /**
   * Creates a product that two sellers offer and the first one owns. `cost` is the cost of the
   * second offer.
   */
  async function product({ cost }: { cost?: number } = {}, code?: string): Promise<string> {
    const [first = '', second = ''] = sellers;
    const made = await addProduct(
      shop.stack,
      [
        { sellerId: first, price: 10_500 },
        { sellerId: second, price: 10_450 },
      ],
      code,
    );
    if (cost !== undefined) {
      await shop.stack.db
        .collection<{ _id: string }>('offers')
        .updateOne({ _id: `${made}:${second}` }, { $set: { cost: Long.fromNumber(cost) } });
    }
    return made;
  }
  const offerOf = async (code: string, seller: string) => {
    const { offers } = await caller.ask('getProduct', `/products/${code}`);
    return offers.find((each: { seller: string }) => each.seller === seller);
  };
  const set = (code: string, body: object) => caller.call(`/products/${code}/offer`, { ...body, reason });

  it('shows the margin of each price, the cheapest first', async () => {
    const code = await product({ cost: 10_300 });
    const { offers } = await caller.ask('getProduct', `/products/${code}`);
    expect(offers.map(({ seller }: { seller: string }) => seller)).to.deep.equal(['seller2', 'seller']);
    const commission = computeCommission(10_450, 0.02);
    expect(offers[0]).to.include({ commission, cost: 10_300, margin: 10_450 - commission - 10_300 });
    expect(offers[1]).to.include({ is_owner: true, cost: null, margin: null });
    expect((await caller.call('/products/none-such')).status).to.equal(404);
  });

  it('lists by code prefix and by seller, with pages', async () => {
    const prefix = uniqueRef('P').slice(0, 30);
    const codes = await Promise.all(['a', 'b', 'c'].map((end) => product({}, `${prefix}-${end}`)));
    const offers = shop.stack.db.collection<{ _id: string }>('offers');
    await offers.deleteOne({ _id: `${codes[1] ?? ''}:${sellers[1] ?? ''}` });
    const pages = async (filter: string) => {
      const found: string[][] = [];
      let after = '';
      do {
        const page = await caller.ask('listProducts', `/products?prefix=${prefix}&limit=1${filter}${after}`);
        found.push(page.products.map((each: { code: string }) => each.code));
        after = page.next === null ? '' : `&after=${page.next}`;
      } while (after !== '');
      return found;
    };
    expect(await pages('')).to.deep.equal(codes.map((code) => [code]));
    expect(await pages('&seller=seller2')).to.deep.equal([[codes[0]], [codes[2]]]);
    expect((await caller.call('/products?seller=none-such')).status).to.equal(404);
  });

  it('a new price applies to the next purchase and not to accepted ones', async () => {
    const code = await product();
    const buy = async (): Promise<number> => {
      const body = { product_code: code, destination: '081234567890', ref_id: uniqueRef() };
      const answer = await shop.buyer.post('/v1/transactions', body);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
      return answer.body.data.price as number;
    };
    expect(await buy()).to.equal(10_450);
    expect((await set(code, { seller: 'seller2', price: 10_400 })).status).to.equal(200);
    expect(await buy()).to.equal(10_400);
    expect(await caller.expectAudited(code, 'offer.put')).to.have.nested.property('after.price', 10_400);
    // Omitted fields keep their values.
    expect((await set(code, { seller: 'seller2', status: 'maintenance' })).status).to.equal(200);
    expect(await offerOf(code, 'seller2')).to.include({ price: 10_400, status: 'maintenance' });
    expect(await buy()).to.equal(10_500);
    expect((await set(code, { seller: 'seller', status: 'inactive' })).status).to.equal(200);
    await caller.expectAudited(code, 'product.update');
    expect((await caller.ask('getProduct', `/products/${code}`)).status).to.equal('inactive');
  });

  it('refuses a price below cost unless confirmed', async () => {
    const code = await product({ cost: 10_300 });
    const refused = await set(code, { seller: 'seller2', price: 10_500 });
    expect(refused.status, refused.text).to.equal(409);
    expect(refused.text).to.include('each sale loses 10');
    expect(await offerOf(code, 'seller2')).to.include({ price: 10_450 });
    // The offer is already below cost, so a change without a new price is accepted.
    expect((await set(code, { seller: 'seller2', status: 'active', price: 10_450 })).status).to.equal(200);
    expect((await set(code, { seller: 'seller2', price: 10_511 })).status).to.equal(200);
    expect(await offerOf(code, 'seller2')).to.include({ margin: 1 });
    expect((await set(code, { seller: 'seller2', price: 10_400, below_cost: true })).status).to.equal(200);
    expect(await offerOf(code, 'seller2')).to.include({ price: 10_400, margin: 10_400 - 208 - 10_300 });
  });

  it('refuses a price above the maximum in call and command, naming the field', async () => {
    const code = await product();
    const max = limits.offerPriceMax;
    for (const price of [max + 1, 9_007_199_254_740_991]) {
      const refused = await set(code, { seller: 'seller', price });
      expect(refused.status, refused.text).to.equal(400);
      expect(refused.text).to.include('"field":"price"').and.include(String(max));
      const args = ['product', 'set', code, '--seller', 'seller', '--reason', reason];
      const result = await topup([...args, '--price', String(price)], shop.stack.env);
      expect(result.code).to.equal(2);
      expect(result.stderr).to.include('--price').and.include('999999999');
    }
    expect(await offerOf(code, 'seller')).to.include({ price: 10_500 });
    expect((await set(code, { seller: 'seller', price: max })).status).to.equal(200);
  });

  it('refuses an empty change and an unknown offer or seller', async () => {
    const code = await product();
    for (const [body, status, words] of [
      [{ seller: 'seller' }, 400, /price|status/],
      [{ seller: 'seller', price: 10.5 }, 400, /whole rupiah/],
      [{ seller: 'seller3', price: 10_000 }, 404, /no offer/],
      [{ seller: 'buyer', price: 10_000 }, 404, /no offer/],
      [{ seller: 'none-such', price: 10_000 }, 404, /none-such/],
    ] as const) {
      const answer = await set(code, body);
      expect(answer.status, answer.text).to.equal(status);
      expect(answer.text).to.match(words);
    }
    expect(await offerOf(code, 'seller')).to.include({ price: 10_500, status: 'active' });
  });

  it('topup product lists, shows and changes offers, with the same refusals', async () => {
    const code = await product({ cost: 10_300 });
    const { env } = shop.stack;
    const listed = await topup(['product', 'list', '--prefix', code, '--json'], env);
    expect(listed.json<{ products: unknown[] }>().products).to.have.length(1);
    const refused = await topup(
      ['product', 'set', code, '--seller', 'seller2', '--price', '10300', '--reason', reason],
      env,
    );
    expect(refused.code).to.not.equal(0);
    expect(refused.stderr).to.include('each sale loses');
    const done = await topup(
      ['product', 'set', code, '--seller', 'seller2', '--price', '11000', '--reason', reason],
      env,
    );
    expect(done.code, done.stderr).to.equal(0);
    const shown = await topup(['product', 'show', code], env);
    expect(shown.stdout).to.include('Rp 11.000').and.include('Rp 480');
  });

  it('sets and removes daily cut-off hours by console and command', async () => {
    const code = await product();
    const path = `/products/${code}/cut-off`;
    const buy = async () => {
      const body = { product_code: code, destination: '081234561230', ref_id: uniqueRef() };
      const { status, body: answer } = await shop.buyer.post('/v1/transactions', body);
      return { status, reason: answer.reason as string | undefined };
    };
    const allDay = { start: '00:00', end: '23:59' };
    // Close only the hours around now, because a cut-off for the whole day would leave one minute
    // open.
    const hour = Number(
      new Intl.DateTimeFormat('en-GB', {
        hour: '2-digit',
        hourCycle: 'h23',
        timeZone: 'Asia/Jakarta',
      }).format(),
    );
    const clock = (value: number) => `${String((value + 24) % 24).padStart(2, '0')}:30`;
    const around = { start: clock(hour - 2), end: clock(hour + 2) };
    await caller.ask('setCutOff', path, { cut_off: around, reason });
    const entry = await caller.expectAudited(code, 'product.cut-off');
    expect(entry['after']).to.deep.equal({ cutOff: around });
    expect((await caller.ask('getProduct', `/products/${code}`)).cut_off).to.deep.equal(around);
    await eventually('the cut-off applies everywhere', async () => (await buy()).status === 503);
    expect((await buy()).reason).to.equal('product_cut_off');

    const none = await topup(
      ['product', 'set', code, '--cut-off', 'none', '--reason', reason],
      shop.stack.env,
    );
    expect(none.code, none.stderr).to.equal(0);
    await eventually('the product is sold again', async () => (await buy()).status === 201);
    const hours = `${allDay.start}-${allDay.end}`;
    const set = await topup(
      ['product', 'set', code, '--cut-off', hours, '--reason', reason, '--json'],
      shop.stack.env,
    );
    expect(set.json()).to.deep.equal({ code, cut_off: allDay });
    for (const wrong of [
      ['--cut-off', '25:00-01:00'],
      ['--cut-off', '01:00-01:00'],
      ['--price', '10000'],
      ['--cut-off', hours, '--seller', 'seller'],
    ]) {
      const refused = await topup(['product', 'set', code, ...wrong, '--reason', reason], shop.stack.env);
      expect(refused.code, wrong.join(' ')).to.equal(2);
    }
    for (const cutOff of [
      { start: '24:00', end: '01:00' },
      { start: '01:00', end: '01:00' },
      { start: '01:00' },
    ]) {
      expect((await caller.call(path, { cut_off: cutOff, reason })).status).to.equal(400);
    }
    expect((await caller.call('/products/none-such/cut-off', { cut_off: null, reason })).status).to.equal(
      404,
    );
  });

  // A price that is five or more times the old one probably has a zero too many. No other check
  // detects that.
  describe('steep price rises in a list', () => {
    const offers = () => shop.stack.db.collection<{ _id: string; price: number }>('offers');
    const soldAt = (price: number) => addProduct(shop.stack, [{ sellerId: sellers[0] ?? '', price }]);
    const priceOf = async (code: string) =>
      Number((await offers().findOne({ _id: `${code}:${sellers[0] ?? ''}` }))?.price);
    const csv = (...lines: string[]) =>
      Buffer.from(['code,seller,price,status', ...lines].join('\n')).toString('base64');

    it('need confirmation from five times the price, and are listed first', async () => {
      const [less, five, ten, falls, free] = [
        await soldAt(10_000),
        await soldAt(10_000),
        await soldAt(10_500),
        await soldAt(10_000),
        await soldAt(1),
      ];
      await offers().updateOne(
        { _id: `${free}:${sellers[0] ?? ''}` },
        { $set: { price: Long.fromNumber(0) as unknown as number } },
      );
      const file = csv(
        `${less},seller,49999,`,
        `${five},seller,50000,`,
        `${ten},seller,105000,`,
        `${falls},seller,1000,`,
        `${free},seller,1000,`,
      );
      const plan = await caller.ask('previewPriceImport', '/price-imports/preview', { file });
      expect(plan).to.include({ found: 5, losing: 0, falling: 1, rising: 3 });
      expect(
        plan.changes.map(({ line, falls: down, rises }: { line: number; falls: boolean; rises: boolean }) => [
          line,
          down,
          rises,
        ]),
      ).to.deep.equal([
        [5, true, false],
        [6, false, true],
        [4, false, true],
        [3, false, true],
        [2, false, false],
      ]);
      const body = { file, name: 'list.csv', fingerprint: plan.fingerprint, reason };
      const refused = await caller.call('/price-imports', body);
      expect(refused.status, refused.text).to.equal(409);
      expect(refused.text)
        .to.include('by more than half at 1 lines (5)')
        .and.include('to five times or more at 3 lines (6, 4, 3)');
      expect(await priceOf(five)).to.equal(10_000);
      const applied = await caller.ask('applyPriceImport', '/price-imports', { ...body, meant: true });
      expect(applied).to.include({ changed: 5 });
      expect(await priceOf(ten)).to.equal(105_000);
    });

    it('an unchanged price with a new status is not a rise', async () => {
      const code = await soldAt(10_000);
      const file = csv(`${code},seller,10000,maintenance`);
      const plan = await caller.ask('previewPriceImport', '/price-imports/preview', { file });
      expect(plan).to.include({ found: 1, rising: 0 });
    });
  });
});
