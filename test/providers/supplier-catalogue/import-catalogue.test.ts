/** A provider's price list becomes products and offers. The provider is played over HTTP. */
import { expect } from 'chai';
import type { Account } from '../../../src/accounts/account.model.js';
import { createAccount } from '../../../src/accounts/create-account.js';
import { OfferModel, type Offer } from '../../../src/products/offer.model.js';
import { ProductModel, type Product } from '../../../src/products/product.model.js';
import { setOffer } from '../../../src/providers/catalogue.js';
import { chooseRoute } from '../../../src/providers/choose-route.js';
import { writePlannedChanges } from '../../../src/providers/imports/apply-import.js';
import { planImport } from '../../../src/providers/imports/plan-import.js';
import { undoImport } from '../../../src/providers/imports/undo-import.js';
import { PriceImportModel } from '../../../src/providers/imports/price-import.model.js';
import { syncPriceList } from '../../../src/providers/refresh-providers.js';
import { applyCatalogue } from '../../../src/providers/supplier-catalogue/apply-catalogue.js';
import { planCatalogue } from '../../../src/providers/supplier-catalogue/plan-catalogue.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { newId } from '../../../src/shared/ids.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { sendJson, startPlayServer, type PlayServer } from '../play-server.js';

const by = { actor: 'operator', from: null, reason: 'test' };
const margin = { percent: 5, amount: 0, roundTo: 50 };

interface ListedRow {
  buyer_sku_code: string;
  price: number;
  [field: string]: unknown;
}

describe('the import of a price list', function () {
  this.timeout(60_000);
  useDatabase();
  let server: PlayServer;
  let seller: Account;
  let rows: ListedRow[];

  beforeEach(async () => {
    const prefix = newId().slice(0, 16);
    rows = ['A', 'B', 'C'].map((name, at) => row(`${prefix}-${name}`, 10_000 * (at + 1)));
    server = await startPlayServer((call, response) => {
      const { cmd } = JSON.parse(call.raw) as { cmd: string };
      sendJson(response, 200, { data: cmd === 'prepaid' ? rows : [] });
    });
    seller = (
      await createAccount({
        username: `s${newId()}`,
        role: 'seller',
        provider: { kind: 'digiflazz', baseUrl: server.url, username: 'us', secret: 'key' },
      })
    ).account;
  });
  afterEach(() => server.stop());

  function row(code: string, price: number, others: object = {}): ListedRow {
    return {
      buyer_sku_code: code,
      price,
      product_name: `XL ${price}`,
      category: 'Pulsa',
      brand: 'XL',
      buyer_product_status: true,
      seller_product_status: true,
      ...others,
    };
  }
  const codeAt = (at: number) => rows[at]?.buyer_sku_code ?? '';
  const offersNow = () => OfferModel.find({ sellerId: seller._id }).sort({ price: 1 }).lean<Offer[]>();
  const apply = (others: object = {}) => applyCatalogue(seller, { margin, ...others }, by);
  async function refusal(call: Promise<unknown>): Promise<string> {
    return call.then(
      () => 'not refused',
      (error: unknown) => String(error),
    );
  }

  it('creates products that can be bought at once, at cost plus margin', async () => {
    const plan = await planCatalogue(seller, { margin });
    expect(plan.creates.map(({ price }) => price)).to.deep.equal([10_500, 21_000, 31_500]);
    expect(await offersNow(), 'after the preview').to.deep.equal([]);
    const { created, changed } = await apply({ fingerprint: plan.fingerprint });
    expect({ created, changed }).to.deep.equal({ created: 3, changed: 0 });
    const product = await ProductModel.findById(codeAt(0)).lean<Product>();
    expect(product).to.deep.include({ subcategory: 'pulsa', operator: 'XL', status: 'active' });
    expect(product?.customerNumber).to.deep.include({ kind: 'phone' });
    const route = await chooseRoute({ productCode: codeAt(0) });
    expect(route).to.include({ sellerId: seller._id, price: 10_500, sku: codeAt(0) });
  });

  it('continues after an interruption, and changes nothing when it runs again', async () => {
    rows = Array.from({ length: 150 }, (_, at) => row(`${codeAt(0)}${at}`, 10_000 + at));
    const interrupted = applyCatalogue(seller, { margin }, by, () => {
      throw new Error('the process died');
    });
    expect(await refusal(interrupted)).to.include('the process died');
    expect(await offersNow()).to.have.length(100);
    const { created } = await apply();
    expect(created).to.equal(50);
    expect(await refusal(apply())).to.include('No row of the price list changes anything');
    expect(await offersNow()).to.have.length(150);
  });

  it('twice at the same moment creates each product once', async () => {
    const done = await Promise.allSettled([apply(), apply(), apply()]);
    const created = done.map((each) => (each.status === 'fulfilled' ? each.value.created : 0));
    expect(created.reduce((sum, each) => sum + each, 0)).to.equal(3);
    expect(await offersNow()).to.have.length(3);
  });

  it('follows a new cost, and keeps a price that was edited at the same moment', async () => {
    await apply();
    rows = rows.map((each) => ({ ...each, price: each.price + 1_000 }));
    const plan = await planCatalogue(seller, { margin });
    await setOffer({ code: codeAt(0), sellerId: seller._id, price: 12_345 }, by);
    const stale = await refusal(apply({ fingerprint: plan.fingerprint }));
    expect(stale).to.include('has changed since the preview');
    await apply({ search: codeAt(1) });
    const [first, second] = await offersNow();
    expect([first?.price, second?.price, second?.cost]).to.deep.equal([12_345, 22_050, 21_000]);
  });

  it('never takes a product of another seller with the same code for the same thing', async () => {
    await apply();
    const other = (
      await createAccount({
        username: `s${newId()}`,
        role: 'seller',
        provider: { kind: 'digiflazz', baseUrl: server.url, username: 'us', secret: 'key' },
      })
    ).account;
    const plan = await planCatalogue(other, { margin });
    expect(plan.creates).to.deep.equal([]);
    expect(plan.skipped.map(({ why }) => why)).to.deep.equal(['code-taken', 'code-taken', 'code-taken']);
    const mapped = new Map([[codeAt(2), codeAt(0)]]);
    const { created } = await applyCatalogue(other, { margin, mapped }, by);
    expect(created).to.equal(1);
    const offer = await OfferModel.findOne({ sellerId: other._id }).lean<Offer>();
    expect(offer).to.include({ productCode: codeAt(0), sku: codeAt(2), price: 31_500, status: 'active' });
  });

  it('takes no product of another kind, and asks about one of another operator or price', async () => {
    await apply();
    const { account: other } = await createAccount({
      username: `s${newId()}`,
      role: 'seller',
      provider: { kind: 'digiflazz', baseUrl: server.url, username: 'us', secret: 'key' },
    });
    const map = (sku: string, code: string) => ({ margin, mapped: new Map([[sku, code]]) });
    const plan = (sku: string, code: string) => planCatalogue(other, map(sku, code));
    rows = [
      { ...row('bill', 0), price: undefined as never, admin: 2_500 },
      row('tsel', 10_000, { brand: 'TELKOMSEL' }),
      row('dear', 95_000),
      row('same', 10_000),
      row('same-again', 10_000),
    ];
    const [ours = ''] = (await offersNow()).map(({ productCode }) => productCode);
    const skippedOf = async (sku: string) =>
      (await plan(sku, ours)).skipped.find((each) => each.sku === sku)?.why;
    expect(await skippedOf('bill')).to.equal('other-kind');
    for (const sku of ['tsel', 'dear']) {
      const found = (await plan(sku, ours)).creates.find((each) => each.sku === sku);
      expect(found?.isUnlike, sku).to.equal(true);
      expect(await refusal(applyCatalogue(other, map(sku, ours), by)), sku).to.include('differs much');
    }
    const both = new Map([
      ['same', ours],
      ['same-again', ours],
    ]);
    const twice = await planCatalogue(other, { margin, mapped: both });
    expect(twice.skipped).to.deep.include({ line: 5, sku: 'same-again', why: 'already-offered' });
    expect(twice.creates.find(({ sku }) => sku === 'same')?.isUnlike).to.equal(false);
    expect(await refusal(plan('no-such-row', ours))).to.include('has no code no-such-row');
  });

  it('allows no loss that the operator has not seen, and no figures of another code', async () => {
    await apply();
    const [offer] = await offersNow();
    const line = { line: 1, code: codeAt(0), seller: seller.username, price: 10_300 };
    const planned = await planImport({ lines: 1, wanted: [line], refused: [] });
    const setOfferFacts = (facts: Partial<Offer>) =>
      writeAndInvalidate([OfferModel], null, (offers) =>
        offers.updateOne({ _id: offer?._id ?? '' }, { $set: facts }),
      );
    const write = (meant: boolean) =>
      writePlannedChanges(planned.changes, { importId: newId(), details: {}, meant, by }).catch(() => null);
    await setOfferFacts({ cost: 15_000 });
    await write(true);
    const isSold = async () => 'sellerId' in (await chooseRoute({ productCode: codeAt(0) }));
    expect(await isSold(), 'after the cost rose').to.equal(false);
    await setOfferFacts({ cost: 10_000, price: 10_500, sku: 'other' });
    await write(false);
    expect((await offersNow())[0]?.price, 'of another code').to.equal(10_500);
  });

  it('is undone: new products become inactive, and earlier prices come back', async () => {
    await apply({ search: codeAt(0) });
    rows = rows.map((each) => ({ ...each, price: each.price + 1_000 }));
    const { importId } = await apply();
    await undoImport(importId, by);
    const products = await ProductModel.find({ sellerId: seller._id }).sort({ _id: 1 }).lean<Product[]>();
    expect(products.map(({ status }) => status)).to.deep.equal(['active', 'inactive', 'inactive']);
    expect((await offersNow())[0]).to.include({ price: 10_500, cost: 10_000 });
    expect((await PriceImportModel.findById(importId).lean())?.status).to.equal('undone');
  });

  it('is followed by syncs that take the higher cost of a repeated code', async () => {
    await apply();
    const [first] = rows;
    rows = [...rows, { ...first, price: 100 } as ListedRow, { ...first, price: 11_000 } as ListedRow];
    expect(await syncPriceList(seller)).to.equal(3);
    expect((await offersNow())[0]?.cost).to.equal(11_000);
  });

  it('asks for a confirmation of new products that lose money after the commission', async () => {
    const thin = { margin: { percent: 0, amount: 10, roundTo: 1 } };
    expect(await refusal(apply(thin))).to.include('would lose money after the commission');
    expect(await offersNow()).to.deep.equal([]);
    expect((await apply({ ...thin, meant: true })).created).to.equal(3);
  });

  it('skips rows that cannot be sold, and selects rows by the words of the provider', async () => {
    rows = [
      row(codeAt(0), 10_000, { seller_product_status: false }),
      row(codeAt(1), 20_000, { brand: 'AXIS' }),
      row(codeAt(1), 20_000),
      row(`${codeAt(2)}!`, 0),
      row('??', 5_000),
    ];
    const plan = await planCatalogue(seller, { margin });
    expect(plan.skipped.map(({ why }) => why)).to.deep.equal([
      'unavailable',
      'repeated',
      'unavailable',
      'no-code',
    ]);
    expect((await planCatalogue(seller, { margin, brand: 'axis' })).rows).to.equal(1);
    expect((await planCatalogue(seller, { margin, group: 'data' })).rows).to.equal(0);
  });
});
