import { expect } from 'chai';
import { AccountModel, type Account } from '../../src/accounts/account.model.js';
import { createAccount } from '../../src/accounts/create-account.js';
import { OfferModel, type Offer } from '../../src/products/offer.model.js';
import { ProductModel, type Product } from '../../src/products/product.model.js';
import { updateProduct } from '../../src/products/update-product.js';
import { getBestPrice, chooseRoute, readPriceConditions } from '../../src/providers/choose-route.js';
import { setOffer } from '../../src/providers/catalogue.js';
import { countOffersBelowCost } from '../../src/providers/count-below-cost.js';
import { getRoutingProduct } from '../../src/providers/routing-cache.js';
import { openCircuit, getProbeKey, recordCall } from '../../src/providers/circuit.js';
import { storeFloat } from '../../src/providers/provider-float.js';
import { ProviderStateModel } from '../../src/providers/provider-state.model.js';
import { syncPriceList } from '../../src/providers/refresh-providers.js';
import { nowMs, setClock } from '../../src/shared/clock.js';
import { newId } from '../../src/shared/ids.js';
import { redis } from '../../src/redis/connection.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { startDigiflazzServer } from './digiflazz-server.js';
import { eventually } from '../support/eventually.js';
import { useDatabase } from '../webhooks/support/database.js';

async function newSeller(change: Partial<Account> = {}): Promise<string> {
  const { account } = await createAccount({
    username: `s${newId()}`,
    role: 'seller',
    provider: { kind: 'simulator', baseUrl: null, username: 'us', secret: 'secret' },
  });
  if (Object.keys(change).length > 0) {
    await writeAndInvalidate([AccountModel], null, (rows) =>
      rows.updateOne({ _id: account._id }, { $set: change }),
    );
  }
  return account._id;
}

/** Creates a product with these offer prices, each from a new seller unless given. */
async function newProduct(
  prices: number[],
  {
    product = {},
    offers = [],
    sellerIds = [],
  }: { product?: Partial<Product>; offers?: Partial<Offer>[]; sellerIds?: string[] } = {},
): Promise<{ code: string; sellers: string[] }> {
  const code = `P${newId()}`;
  const sellers: string[] = [];
  for (const [index, price] of prices.entries()) {
    const sellerId = sellerIds[index] ?? (await newSeller());
    sellers.push(sellerId);
    await writeAndInvalidate([OfferModel], null, (rows) =>
      rows.create({
        _id: `${code}:${sellerId}`,
        productCode: code,
        sellerId,
        price,
        status: 'active',
        ...offers[index],
      }),
    );
  }
  await writeAndInvalidate([ProductModel], null, (rows) =>
    rows.create({
      _id: code,
      sellerId: sellers[0] ?? 'nobody',
      name: code,
      category: 'prabayar',
      subcategory: 'pulsa',
      status: 'active',
      customerNumber: { kind: 'any' },
      ...product,
    }),
  );
  return { code, sellers };
}

async function priceOf(code: string, at?: Date) {
  const found = await getRoutingProduct(code);
  const offers = [...(found?.offers ?? [])].sort((a, b) => a.price - b.price);
  return found && getBestPrice({ ...found, offers }, await readPriceConditions(at));
}

describe('routing', () => {
  useDatabase();
  afterEach(() => setClock(null));

  it('takes the cheapest active offer; after a refusal, the next one within the price', async () => {
    const { code, sellers } = await newProduct([10_300, 10_100, 10_200]);
    const [dear, cheap, middle] = sellers;
    expect(await chooseRoute({ productCode: code })).to.deep.equal({
      sellerId: cheap,
      sku: code,
      price: 10_100,
      commissionRate: 0.02,
      provider: { kind: 'simulator', baseUrl: null, username: 'us' },
    });
    expect(await chooseRoute({ productCode: code, excludeSellerIds: [cheap ?? ''] })).to.include({
      sellerId: middle,
    });
    const tooDear = { productCode: code, excludeSellerIds: [cheap ?? '', middle ?? ''], priceMax: 10_200 };
    expect(await chooseRoute(tooDear)).to.deep.equal({ reason: 'no-offer' });
    expect(await chooseRoute({ ...tooDear, priceMax: 10_300 })).to.include({ sellerId: dear });
  });

  it('finds no offer for a product that is inactive, not offered or unknown', async () => {
    const { code } = await newProduct([10_000], { product: { status: 'inactive' } });
    const off = await newProduct([10_000], { offers: [{ status: 'inactive' }] });
    for (const productCode of [code, off.code, `none${newId()}`]) {
      expect(await chooseRoute({ productCode })).to.deep.equal({ reason: 'no-offer' });
    }
  });

  const unable: [string, (sellerId: string) => Promise<unknown>][] = [
    [
      'is suspended',
      (id) =>
        writeAndInvalidate([AccountModel], null, (rows) =>
          rows.updateOne({ _id: id }, { $set: { status: 'suspended' } }),
        ),
    ],
    [
      'has no provider',
      (id) =>
        writeAndInvalidate([AccountModel], null, (rows) =>
          rows.updateOne({ _id: id }, { $set: { provider: null } }),
        ),
    ],
    ['has a float below the cost', (id) => storeFloat(id, 9_999)],
    [
      'was paused by the operator',
      (id) =>
        writeAndInvalidate([ProviderStateModel], null, (rows) =>
          rows.updateOne(
            { _id: id },
            { $set: { paused: { reason: 'r', by: 'op', at: new Date() } } },
            { upsert: true },
          ),
        ),
    ],
  ];
  for (const [what, change] of unable) {
    it(`skips a seller that ${what}; without another seller the product is in maintenance`, async () => {
      const { code, sellers } = await newProduct([10_000, 10_500]);
      await change(sellers[0] ?? '');
      expect(await chooseRoute({ productCode: code })).to.include({ sellerId: sellers[1] });
      expect(await priceOf(code)).to.deep.equal({ price: 10_500, status: 'active' });
      const last = { productCode: code, excludeSellerIds: [sellers[1] ?? ''] };
      expect(await chooseRoute(last)).to.deep.equal({ reason: 'maintenance' });
    });
  }

  it('does not sell below cost; without another offer the product is in maintenance', async () => {
    const { code, sellers } = await newProduct([10_000, 10_500], { offers: [{ cost: 10_001 }] });
    expect(await chooseRoute({ productCode: code })).to.include({ sellerId: sellers[1], price: 10_500 });
    expect(await priceOf(code)).to.deep.equal({ price: 10_500, status: 'active' });
    const alone = await newProduct([10_000], { offers: [{ cost: 10_001 }] });
    expect(await chooseRoute({ productCode: alone.code })).to.deep.equal({ reason: 'maintenance' });
    expect(await priceOf(alone.code)).to.deep.equal({ price: 10_000, status: 'maintenance' });
    const atCost = await newProduct([10_000], { offers: [{ cost: 10_000 }] });
    expect(await chooseRoute({ productCode: atCost.code })).to.include({ sellerId: atCost.sellers[0] });
  });

  it('does not send an accepted order whose cost has risen above its price', async () => {
    const { code, sellers } = await newProduct([10_000], { offers: [{ cost: 10_700 }] });
    const accepted = { sellerId: sellers[0] ?? '', price: 10_000 };
    expect(await chooseRoute({ productCode: code, priceMax: 10_000, accepted })).to.deep.equal({
      reason: 'maintenance',
    });
  });

  it('sends an accepted order with the code and the checks of its offer, even if inactive', async () => {
    const offer = { status: 'inactive' as const, sku: 'THEIRS', cost: 9_000 };
    const { code, sellers } = await newProduct([10_000], { offers: [offer] });
    const accepted = { sellerId: sellers[0] ?? '', price: 10_000 };
    const wanted = { productCode: code, priceMax: 10_000, accepted };
    expect(await chooseRoute(wanted)).to.include({ sku: 'THEIRS', price: 10_000 });
    expect(await chooseRoute({ ...wanted, accepted: { ...accepted, sku: 'QUOTED' } })).to.include({
      sku: 'QUOTED',
    });
    await writeAndInvalidate([OfferModel], [code], (rows) =>
      rows.updateOne({ _id: `${code}:${accepted.sellerId}` }, { $set: { cost: 10_001 } }),
    );
    expect(await chooseRoute(wanted)).to.deep.equal({ reason: 'maintenance' });
  });

  it('gives an order that was accepted at another price no later permission for a loss', async () => {
    const { code, sellers } = await newProduct([4_900], { offers: [{ cost: 5_000, costAllowed: 5_000 }] });
    const accepted = { sellerId: sellers[0] ?? '', price: 1_000 };
    expect(await chooseRoute({ productCode: code })).to.include({ costMax: 5_000 });
    expect(await chooseRoute({ productCode: code, priceMax: 1_000, accepted })).to.deep.equal({
      reason: 'maintenance',
    });
  });

  it('sells a bill although the admin fee in the price list is above the offer', async () => {
    const { code, sellers } = await newProduct([0], {
      product: { category: 'pascabayar' },
      offers: [{ cost: 2_500 }],
    });
    expect(await chooseRoute({ productCode: code })).to.include({ sellerId: sellers[0] });
  });

  it('sells below cost with the permission of an operator, up to the cost of that day', async () => {
    const { code, sellers } = await newProduct([10_000], { offers: [{ cost: 10_700 }] });
    const [sellerId = ''] = sellers;
    const by = { actor: 'operator', from: null, reason: 'test' };
    const setCost = (cost: number) =>
      writeAndInvalidate([OfferModel], [code], (rows) =>
        rows.updateOne({ _id: `${code}:${sellerId}` }, { $set: { cost } }),
      );
    const isSold = async () => 'sellerId' in (await chooseRoute({ productCode: code }));
    expect(await isSold(), 'without permission').to.equal(false);
    const allowed = await setOffer({ code, sellerId, status: 'active', belowCost: true }, by);
    expect([allowed.isBelowCost, await isSold()], 'with permission').to.deep.equal([false, true]);
    expect(await chooseRoute({ productCode: code }), 'sent with the order').to.include({ costMax: 10_700 });
    await setCost(10_701);
    expect(await isSold(), 'above the allowed cost').to.equal(false);
    await setCost(10_700);
    await setOffer({ code, sellerId, price: 10_690, belowCost: true }, by);
    expect(await isSold(), 'another price with permission').to.equal(true);
    await updateProduct({ sellerId, code, price: 10_680 }, by);
    expect(await isSold(), "the seller's own price ends the permission").to.equal(false);
    expect(await countOffersBelowCost([sellerId])).to.deep.equal(new Map([[sellerId, 1]]));
    await updateProduct({ sellerId, code, price: 10_700 }, by);
    expect([await isSold(), await countOffersBelowCost([sellerId])]).to.deep.equal([true, new Map()]);
  });

  it('skips an open circuit; if all are open, the catalogue shows maintenance', async () => {
    const { code, sellers } = await newProduct([10_000, 10_500]);
    await openCircuit(sellers[0] ?? '', 'configuration');
    expect(await chooseRoute({ productCode: code })).to.include({ sellerId: sellers[1] });
    await openCircuit(sellers[1] ?? '', 'configuration');
    expect(await chooseRoute({ productCode: code })).to.deep.equal({ reason: 'circuits-open' });
    expect(await priceOf(code)).to.deep.equal({ price: 10_000, status: 'maintenance' });
  });

  it('sends a half-open seller one order a second', async () => {
    const { code, sellers } = await newProduct([10_000, 10_500]);
    await openCircuit(sellers[0] ?? '', 'configuration');
    setClock(() => Date.now() + 15_500);
    const routes = await Promise.all(Array.from({ length: 10 }, () => chooseRoute({ productCode: code })));
    const taken = routes.map((route) => ('sellerId' in route ? route.sellerId : null));
    expect(taken.filter((id) => id === sellers[0])).to.have.length(1);
    expect(taken.filter((id) => id === sellers[1])).to.have.length(9);
  });

  it("routes a new order elsewhere while a half-open seller's probe is running", async () => {
    const { code, sellers } = await newProduct([10_000, 10_500]);
    const [halfOpen = '', well] = sellers;
    const alone = await newProduct([10_000], { sellerIds: [halfOpen] });
    const accept = async (productCode = code) => {
      const route = await chooseRoute({ productCode, turnAt: null });
      return 'sellerId' in route ? route.sellerId : route.reason;
    };
    await openCircuit(halfOpen, 'configuration');
    setClock(() => Date.now() + 15_500);
    expect(await accept(), 'probe').to.equal(halfOpen);
    expect(await chooseRoute({ productCode: code, turnAt: halfOpen })).to.include({ sellerId: halfOpen });
    const nextSecond = () => redis().del(getProbeKey(halfOpen, 'accept'));
    await nextSecond();
    expect(await accept()).to.equal(well);
    expect(await accept(alone.code), 'only seller of the product').to.equal(halfOpen);
    await nextSecond();
    await recordCall(halfOpen, {
      failed: false,
      slow: false,
      served: true,
      startedAt: nowMs(),
      durationMs: 1,
    });
    await eventually('the next probe', async () => (await accept()) === halfOpen, 5_000);
  });

  it("sells nothing in a cut-off window, for a product or for one seller's offer", async () => {
    const at = new Date('2026-03-01T23:50:00+07:00');
    const cutOff = { start: '23:45', end: '00:15' };
    const closed = await newProduct([10_000], { product: { cutOff } });
    expect(await chooseRoute({ productCode: closed.code, now: at })).to.deep.equal({ reason: 'cut-off' });
    expect(await priceOf(closed.code, at)).to.deep.equal({ price: 10_000, status: 'maintenance' });
    const { code, sellers } = await newProduct([10_000, 10_500], { offers: [{ cutOff }] });
    expect(await chooseRoute({ productCode: code, now: at })).to.include({ sellerId: sellers[1] });
    const noon = new Date('2026-03-01T12:00:00+07:00');
    expect(await chooseRoute({ productCode: code, now: noon })).to.include({ sellerId: sellers[0] });
  });

  it('breaks ties by success rate, then by speed', async () => {
    const { code, sellers } = await newProduct([10_000, 10_000, 10_000]);
    const [unreliable, slow, fast] = sellers;
    const call = (sellerId: string | undefined, served: boolean, durationMs: number) =>
      recordCall(sellerId ?? '', { failed: false, slow: false, served, startedAt: nowMs(), durationMs });
    await call(unreliable, false, 100);
    await call(slow, true, 2_000);
    await call(fast, true, 100);
    setClock(() => Date.now() + 300);
    expect(await chooseRoute({ productCode: code })).to.include({ sellerId: fast });
    expect(await chooseRoute({ productCode: code, excludeSellerIds: [fast ?? ''] })).to.include({
      sellerId: slow,
    });
  });

  it("takes cost, stock and cut-off from Digiflazz's price list, not price and status", async () => {
    const server = await startDigiflazzServer();
    const { account } = await createAccount({
      username: `s${newId()}`,
      role: 'seller',
      provider: { kind: 'digiflazz', baseUrl: server.url, username: server.username, secret: server.apiKey },
    });
    const codes = ['ours', 'gone', 'unlisted'];
    await writeAndInvalidate([OfferModel], null, (rows) =>
      rows.create(
        codes.map((code) => ({
          _id: `${code}:${account._id}`,
          productCode: code,
          sellerId: account._id,
          price: 12_000,
          status: code === 'gone' ? ('inactive' as const) : ('active' as const),
          ...(code === 'ours' && { sku: 'xld10' }),
        })),
      ),
    );
    expect(await syncPriceList(account)).to.equal(2);
    const offers = await OfferModel.find({ sellerId: account._id }).sort({ productCode: 1 }).lean<Offer[]>();
    const facts = offers.map(({ productCode, price, status, cost, providerAvailable, cutOff }) => {
      return { productCode, price, status, cost, providerAvailable, cutOff };
    });
    const common = { price: 12_000, status: 'active', cutOff: null };
    expect(facts).to.deep.equal([
      { ...common, productCode: 'gone', status: 'inactive', cost: 5_000, providerAvailable: false },
      {
        ...common,
        productCode: 'ours',
        cost: 10_000,
        providerAvailable: true,
        cutOff: { start: '23:45', end: '00:15' },
      },
      { ...common, productCode: 'unlisted', cost: null, providerAvailable: false },
    ]);
    await server.stop();
  });
});
