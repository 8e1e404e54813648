/** Price imports (preview, apply and undo) and their effects in other processes. */
import { expect } from 'chai';
import { Long } from 'mongodb';
import { callerAs, reason, type Caller } from '../../console/support/console-caller.js';
import { startOperatedStack, type OperatedStack } from '../../console/support/operated-stack.js';
import { addProduct } from '../provider-stack.js';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { topup } from '../../support/topup.js';
import { workbookOf } from './workbook.js';

interface Figures {
  price: number;
  cost: number | null;
  status: string;
}

describe('price imports', function () {
  this.timeout(120_000);
  let shop: OperatedStack;
  let caller: Caller;
  let sellers: string[];
  let other: ApiClient;

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'operations');
    const found = await shop.stack.db.collection('accounts').find({ role: 'seller' }).toArray();
    sellers = ['seller', 'seller2'].map((name) =>
      String(found.find(({ username }) => username === name)?._id),
    );
    other = apiClient((await shop.stack.startWeb()).url, shop.accounts['buyer']?.api_key ?? '');
  });
  after(() => shop.stack.stop());

  const product = (...prices: number[]) =>
    addProduct(
      shop.stack,
      prices.map((price, n) => ({ sellerId: sellers[n] ?? '', price })),
    );
  const offers = () => shop.stack.db.collection<Figures & { _id: string }>('offers');
  const csv = (...lines: string[]) =>
    Buffer.from(['code,seller,price,cost,status', ...lines].join('\n')).toString('base64');
  const preview = (file: string) => caller.ask('previewPriceImport', '/price-imports/preview', { file });
  const list = { name: 'list.csv', reason };
  const tryToApply = (file: string, fingerprint: string, more: object = {}) =>
    caller.call('/price-imports', { ...list, file, fingerprint, ...more });
  async function apply(file: string, more: object = {}) {
    const { fingerprint } = await preview(file);
    return caller.ask('applyPriceImport', '/price-imports', { ...list, file, fingerprint, ...more });
  }
  const undo = (id: string) => caller.ask('undoPriceImport', `/price-imports/${id}/undo`, { reason });
  async function figures(code: string, n = 0): Promise<Figures> {
    const offer = await offers().findOne({ _id: `${code}:${sellers[n] ?? ''}` });
    return { price: Number(offer?.price), cost: offer?.cost ?? null, status: offer?.status ?? '' };
  }
  async function priceOf(code: string, at: ApiClient = other): Promise<number> {
    const body = { product_code: code, destination: '081234567890', ref_id: uniqueRef() };
    const answer = await at.post('/v1/transactions', body);
    return answer.status === 201 ? (answer.body.data.price as number) : answer.status;
  }

  it('one of four concurrent imports of a list succeeds; the others get a conflict', async () => {
    const file = csv(`${await product(10_000)},seller,11000,,`);
    const { fingerprint: seen } = await preview(file);
    const answers = await Promise.all([1, 2, 3, 4].map(() => tryToApply(file, seen)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409]);
    const [only, ...others] = (await caller.ask('listPriceImports', '/price-imports')).imports;
    const auditedIds = await shop.stack.db
      .collection('audit')
      .distinct('subject.id', { action: 'price-import.apply' });
    expect([only.file, others, auditedIds]).to.deep.equal(['list.csv', [], [only.id]]);
  });

  it('a preview lists changes, losses and refused lines, and changes nothing', async () => {
    const [cheap, dear] = [await product(10_000), await product(20_000)];
    const [same, owned] = [await product(30_000), await product(40_000)];
    await offers().updateOne(
      { _id: `${dear}:${sellers[0] ?? ''}` },
      { $set: { cost: Long.fromNumber(19_000) as unknown as number } },
    );
    const file = csv(
      `${cheap},seller,10500,9000,`,
      `${dear},seller,19300,,`,
      `${same},seller,30000,,active`,
      `none-such,seller,1,,`,
      `${cheap},none-such,1,,`,
      `${cheap},seller2,1,,`,
      `${cheap},seller,x,,`,
      `${owned},seller,,,inactive`,
    );
    const plan = await preview(file);
    expect(plan).to.include({ lines: 8, found: 3, losing: 1, unchanged: 1, refused_found: 4 });
    const sound = { loses: false, falls: false, rises: false };
    expect(plan.changes).to.deep.equal([
      {
        line: 3,
        code: dear,
        seller: 'seller',
        margin: 19_300 - 386 - 19_000,
        ...sound,
        loses: true,
        before: { price: 20_000, cost: 19_000, status: 'active' },
        after: { price: 19_300, cost: 19_000, status: 'active' },
      },
      {
        line: 2,
        code: cheap,
        seller: 'seller',
        margin: 10_500 - 210 - 9_000,
        ...sound,
        before: { price: 10_000, cost: null, status: 'active' },
        after: { price: 10_500, cost: 9_000, status: 'active' },
      },
      {
        line: 9,
        code: owned,
        seller: 'seller',
        margin: null,
        ...sound,
        before: { price: 40_000, cost: null, status: 'active' },
        after: { price: 40_000, cost: null, status: 'inactive' },
      },
    ]);
    expect(plan.refused).to.deep.equal([
      { line: 5, why: 'unknown-product' },
      { line: 6, why: 'unknown-seller' },
      { line: 7, why: 'no-offer' },
      { line: 8, why: 'bad-price' },
    ]);
    expect(await figures(cheap)).to.deep.equal({ price: 10_000, cost: null, status: 'active' });
    const losing = await tryToApply(file, plan.fingerprint);
    expect(losing.status, losing.text).to.equal(409);
    expect(losing.text).to.include('at 1 lines (3)');
    expect(await figures(cheap)).to.deep.equal({ price: 10_000, cost: null, status: 'active' });
    expect(await apply(file, { meant: true })).to.include({ changed: 3, kept_found: 0 });
    expect(await figures(dear)).to.deep.equal({ price: 19_300, cost: 19_000, status: 'active' });
  });

  it('takes effect at once in another process, as does its undo; audits each offer', async () => {
    const [own, offered] = [await product(10_000), await product(20_000, 11_000)];
    expect([await priceOf(own), await priceOf(offered)]).to.deep.equal([10_000, 11_000]);
    const file = workbookOf([
      ['seller', 'code', 'status', 'price'],
      ['seller', own, null, 10_700],
      ['seller2', offered, 'inactive', null],
    ]).toString('base64');
    const { id, changed } = await apply(file);
    expect(changed).to.equal(2);
    expect([await priceOf(own), await priceOf(offered)]).to.deep.equal([10_700, 20_000]);
    await caller.expectAudited(id, 'price-import.apply');
    expect(await caller.expectAudited(own, 'offer.import')).to.deep.include({
      before: { sellerId: sellers[0], price: 10_000, cost: null, status: 'active' },
      after: { sellerId: sellers[0], price: 10_700, cost: null, status: 'active', importId: id },
    });
    expect(await undo(id)).to.deep.equal({ undone: 2, kept_found: 0, kept: [] });
    expect([await priceOf(own), await priceOf(offered)]).to.deep.equal([10_000, 11_000]);
    await caller.expectAudited(id, 'price-import.undo');
    await caller.expectAudited(own, 'offer.import-undo');
    const again = await caller.call(`/price-imports/${id}/undo`, { reason });
    expect(again.status, again.text).to.equal(409);
    const { imports } = await caller.ask('listPriceImports', '/price-imports?limit=1');
    expect(imports[0]).to.deep.include({ id, status: 'undone', planned: 2, changed: 2, file: 'list.csv' });
    expect((await caller.call('/price-imports/none-such/undo', { reason })).status).to.equal(404);
  });

  it("the product's status follows the offer of its owner, and is restored by an undo", async () => {
    const code = await product(10_000, 11_000);
    const { id } = await apply(csv(`${code},seller,,,maintenance`));
    expect(await priceOf(code)).to.equal(503);
    expect((await figures(code)).status).to.equal('active');
    await undo(id);
    expect(await priceOf(code)).to.equal(10_000);
  });

  it('an undo keeps later changes and reports them', async () => {
    const codes = [await product(10_000), await product(10_000), await product(10_000)];
    const { id } = await apply(csv(...codes.map((code) => `${code},seller,10100,,`)));
    const changed = await caller.call(`/products/${codes[1] ?? ''}/offer`, {
      seller: 'seller',
      price: 12_000,
      reason,
    });
    expect(changed.status, changed.text).to.equal(200);
    // This change sets the price that was valid before the import.
    await caller.call(`/products/${codes[2] ?? ''}/offer`, { seller: 'seller', price: 10_000, reason });
    expect(await undo(id)).to.deep.equal({
      undone: 1,
      kept_found: 1,
      kept: [{ line: 3, code: codes[1], fields: ['price'] }],
    });
    const prices = await Promise.all(codes.map(async (code) => (await figures(code)).price));
    expect(prices).to.deep.equal([10_000, 12_000, 10_000]);
  });

  it('an undo restores imported fields although other fields changed since', async () => {
    const [synced, stopped] = [await product(10_000), await product(20_000)];
    const { id } = await apply(csv(`${synced},seller,1010,,`, `${stopped},seller,2010,,`), { meant: true });
    // Set the cost as the sync with the provider's price list does.
    const cost = Long.fromNumber(9_000) as unknown as number;
    await offers().updateOne({ _id: `${synced}:${sellers[0] ?? ''}` }, { $set: { cost } });
    const stop = { seller: 'seller', status: 'maintenance', reason };
    expect((await caller.call(`/products/${stopped}/offer`, stop)).status).to.equal(200);
    expect(await undo(id)).to.deep.equal({ undone: 2, kept_found: 0, kept: [] });
    expect(await figures(synced)).to.deep.equal({ price: 10_000, cost: 9_000, status: 'active' });
    expect(await figures(stopped)).to.include({ price: 20_000 });
    expect(await priceOf(stopped), 'status of the stopped offer').to.equal(503);
    expect(await caller.expectAudited(synced, 'offer.import-undo')).to.deep.include({
      before: { sellerId: sellers[0], price: 1_010, cost: 9_000, status: 'active' },
      after: { sellerId: sellers[0], price: 10_000, cost: 9_000, status: 'active', importId: id },
    });
  });

  it('restores the unchanged fields of an offer and reports the changed ones', async () => {
    const code = await product(10_000);
    const { id } = await apply(csv(`${code},seller,10100,9000,maintenance`));
    const cost = Long.fromNumber(9_500) as unknown as number;
    await offers().updateOne({ _id: `${code}:${sellers[0] ?? ''}` }, { $set: { cost } });
    expect(await undo(id)).to.deep.equal({
      undone: 0,
      kept_found: 1,
      kept: [{ line: 2, code, fields: ['cost'] }],
    });
    expect(await figures(code)).to.include({ price: 10_000, cost: 9_500 });
    expect(await priceOf(code)).to.equal(10_000);
  });

  it('a repeated undo reverts only the offers that the first one kept', async () => {
    const [left, back] = [await product(10_000), await product(20_000)];
    const { id } = await apply(csv(`${left},seller,10100,,`, `${back},seller,20100,,`));
    const set = async (code: string, price: number) => {
      const answer = await caller.call(`/products/${code}/offer`, { seller: 'seller', price, reason });
      expect(answer.status, answer.text).to.equal(200);
    };
    await set(left, 12_000);
    const kept = [{ line: 2, code: left, fields: ['price'] }];
    expect(await undo(id)).to.deep.equal({ undone: 1, kept_found: 1, kept });
    expect(await undo(id), 'still another price').to.deep.equal({ undone: 0, kept_found: 1, kept });
    // The import of the offer `back` was already undone. Afterwards a person sets its price again.
    await set(back, 20_100);
    await set(left, 10_100);
    expect(await undo(id)).to.deep.equal({ undone: 1, kept_found: 0, kept: [] });
    expect([(await figures(left)).price, (await figures(back)).price]).to.deep.equal([10_000, 20_100]);
    expect((await caller.call(`/price-imports/${id}/undo`, { reason })).status).to.equal(409);
  });

  it('a price that falls by more than half needs confirmation and is listed first', async () => {
    const [half, lost, less] = [await product(10_000), await product(10_500), await product(90_000)];
    const file = csv(`${half},seller,5000,,`, `${less},seller,40000,,`, `${lost},seller,1050,,`);
    const plan = await preview(file);
    expect(plan).to.include({ found: 3, losing: 0, falling: 2 });
    const shown = plan.changes.map(({ code, falls }: { code: string; falls: boolean }) => [code, falls]);
    expect(shown).to.deep.equal([
      [lost, true],
      [less, true],
      [half, false],
    ]);
    const refused = await tryToApply(file, plan.fingerprint);
    expect(refused.status, refused.text).to.equal(409);
    expect(refused.text).to.include('by more than half at 2 lines (4, 3)');
    expect(await figures(half)).to.include({ price: 10_000 });
    expect(await apply(file, { meant: true })).to.include({ changed: 3 });
  });

  it('applies only the previewed changes, and refuses an import without changes', async () => {
    const code = await product(10_000);
    const file = csv(`${code},seller,10100,,`);
    const { fingerprint } = await preview(file);
    await caller.call(`/products/${code}/offer`, { seller: 'seller', price: 9_900, reason });
    const stale = await tryToApply(file, fingerprint);
    expect(stale.status, stale.text).to.equal(409);
    expect(stale.text).to.include('since the preview');
    expect((await figures(code)).price).to.equal(9_900);
    const same = csv(`${code},seller,9900,,`);
    const nothing = await tryToApply(same, (await preview(same)).fingerprint);
    expect(nothing.status, nothing.text).to.equal(409);
    const broken = await caller.call('/price-imports/preview', { file: Buffer.from('x').toString('base64') });
    expect(broken.status, broken.text).to.equal(400);
  });

  it('never overwrites concurrent changes of sellers, and audits both', async () => {
    const codes = await Promise.all(Array.from({ length: 120 }, () => product(10_000)));
    const seller = apiClient(shop.stack.baseUrl, shop.accounts['seller']?.api_key ?? '');
    const file = csv(...codes.map((code) => `${code},seller,10100,,`));
    const { fingerprint } = await preview(file);
    const imports = shop.stack.db.collection('priceImports');
    const before = await imports.countDocuments();
    const applying = tryToApply(file, fingerprint);
    // The plan is stored, and the import writes the first hundred offers.
    await eventually('the import begins', async () => (await imports.countDocuments()) > before);
    await Promise.all(
      codes.slice(100).map(async (code) => {
        const answer = await seller.post(`/api/seller/products/${code}/offers`, { price: 10_222 });
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      }),
    );
    const applied = await applying;
    expect(applied.status, applied.text).to.equal(200);
    const { id, changed, kept } = JSON.parse(applied.text).data as {
      id: string;
      changed: number;
      kept: { code: string }[];
    };
    const keptCodes = kept.map((each) => each.code);
    expect(changed + kept.length).to.equal(codes.length);
    for (const code of codes.slice(100)) {
      // The last write wins. It is the seller's, or the import's if the import has read the
      // seller's price.
      expect((await figures(code)).price).to.be.oneOf([10_100, 10_222]);
      const entries = await shop.stack.db
        .collection('audit')
        .find({ 'subject.id': code })
        .sort({ at: 1, _id: 1 })
        .toArray();
      for (let n = 1; n < entries.length; n += 1) {
        expect(entries[n]?.['before'].price).to.equal(entries[n - 1]?.['after'].price);
      }
      expect(entries.length).to.equal(keptCodes.includes(code) ? 1 : 2);
    }
    const { kept: left } = await undo(id);
    for (const code of codes) {
      const isLeft = left.some((each: { code: string }) => each.code === code) || keptCodes.includes(code);
      expect((await figures(code)).price).to.equal(isLeft ? 10_222 : 10_000);
    }
  });

  it('a repeated undo after an interruption keeps prices that were set since', async () => {
    const [code, other] = [await product(10_000), await product(20_000)];
    const { id } = await apply(csv(`${code},seller,10100,,`, `${other},seller,20100,,`));
    await undo(id);
    expect(await figures(code)).to.include({ price: 10_000 });
    // Simulate an interrupted undo: one offer is not restored, and the last step is missing.
    const rows = shop.stack.db.collection<{ _id: string }>('priceImportRows');
    await rows.updateOne({ _id: `${id}:${other}:${sellers[0] ?? ''}` }, { $unset: { undoneAt: '' } });
    await shop.stack.db
      .collection<{ _id: string }>('priceImports')
      .updateOne({ _id: id }, { $set: { status: 'undoing', undone: null } });
    for (const [each, price] of [
      [code, 10_100],
      [other, 20_100],
    ] as const) {
      await caller.call(`/products/${each}/offer`, { seller: 'seller', price, reason });
    }
    expect(await undo(id)).to.deep.equal({ undone: 1, kept_found: 0, kept: [] });
    expect(await figures(code)).to.include({ price: 10_100 });
    expect(await figures(other)).to.include({ price: 20_000 });
    expect((await caller.call(`/price-imports/${id}/undo`, { reason })).status).to.equal(409);
  });

  it('the history of an offer lists each price with actor and reason, newest first', async () => {
    const code = await product(10_000, 11_000);
    await caller.call(`/products/${code}/offer`, { seller: 'seller', price: 10_050, reason });
    const { id } = await apply(csv(`${code},seller,10100,9000,`, `${code},seller2,11100,,`));
    await undo(id);
    const { moments } = await caller.ask('getOfferHistory', `/products/${code}/history?seller=seller`);
    const actor = `operator:${caller.username}`;
    expect(moments.map(({ at: _, ...each }: { at: string }) => each)).to.deep.equal([
      { actor, reason, price: 10_050, cost: null, status: null, import_id: id },
      { actor, reason, price: 10_100, cost: 9_000, status: null, import_id: id },
      { actor, reason, price: 10_050, cost: null, status: null, import_id: null },
    ]);
    const page = await caller.ask('getOfferHistory', `/products/${code}/history?seller=seller2&limit=100`);
    expect(page.moments.map(({ price }: { price: number }) => price)).to.deep.equal([11_000, 11_100]);
    expect((await caller.call(`/products/${code}/history?seller=seller3`)).status).to.equal(404);
  });

  it('lists the recent changes of all sellers, in the console and on the command line', async () => {
    const code = await product(10_000, 11_000);
    const own = apiClient(shop.stack.baseUrl, shop.accounts['seller2']?.api_key ?? '');
    await caller.call(`/products/${code}/offer`, { seller: 'seller', price: 10_050, reason });
    await apply(csv(`${code},seller2,11100,9000,maintenance`));
    const none = { price: null, cost: null, status: null };
    const ofCode = (changes: { code: string; at: string }[]) => changes.filter((each) => each.code === code);
    const { changes } = await caller.ask('listOfferChanges', '/price-changes');
    const actor = `operator:${caller.username}`;
    expect(ofCode(changes).map(({ at: _, ...each }) => each)).to.deep.equal([
      {
        actor,
        reason,
        code,
        seller: 'seller2',
        was: { ...none, price: 11_000, status: 'active' },
        is: { price: 11_100, cost: 9_000, status: 'maintenance' },
      },
      {
        actor,
        reason,
        code,
        seller: 'seller',
        was: { ...none, price: 10_000 },
        is: { ...none, price: 10_050 },
      },
    ]);
    const ofOne = await caller.ask('listOfferChanges', '/price-changes?seller=seller');
    expect(ofCode(ofOne.changes)).to.have.length(1);
    // A seller changes the price of its own product.
    const made = `OWN-${uniqueRef()}`;
    const body = { code: made, name: 'Paket', category: 'prabayar', subcategory: 'data', price: 5_000 };
    expect((await own.post('/api/seller/products', body)).status).to.be.below(300);
    const answer = await fetch(`${shop.stack.baseUrl}/api/seller/products/${made}`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${shop.accounts['seller2']?.api_key ?? ''}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ price: 5_500 }),
    });
    expect(answer.status).to.equal(200);
    const printed = await topup(['product', 'changes', '--seller', 'seller2'], shop.stack.env);
    expect(printed.stdout).to.match(new RegExp(`${made} +seller2 +price Rp 5\\.000 -> Rp 5\\.500 `));
    const old = await topup(['product', 'changes', '--since', '2999-01-01'], shop.stack.env);
    expect(old.stdout).to.include('Nothing changed since 2999-01-01');
  });
});
