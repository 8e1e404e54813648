/** ETag and If-None-Match on lists that clients poll. */
import { expect } from 'chai';
import { AccountModel } from '../../src/accounts/account.model.js';
import { operations } from '../../src/api/operations.js';
import { createDeposit } from '../../src/deposits/create-deposit.js';
import { OfferModel } from '../../src/products/offer.model.js';
import { ProductModel } from '../../src/products/product.model.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { formatBusinessDay } from '../../src/shared/business-time.js';
import { uniqueRef, type Answer } from '../support/api-client.js';
import { useApi } from './support/api.js';
import { newProduct } from './support/catalogue.js';
import { expectFailure } from './support/expect-answer.js';

describe('conditional requests on lists', () => {
  const api = useApi();
  const get = (path: string, key: string, headers: Record<string, string> = {}) =>
    api.call({ method: 'GET', path, key, headers });
  const tagOf = ({ headers }: Answer) => {
    expect(headers['etag']).to.match(/^W\/"[\w-]{27}"$/);
    return String(headers['etag']);
  };
  const today = formatBusinessDay(new Date());
  const statement = (role: string) => `/api/${role}/statement?start_date=${today}&end_date=${today}`;

  function expectNotModified(answer: Answer, tag: string): void {
    expect(answer.status).to.equal(304);
    expect(answer.body === null || answer.body === '').to.equal(true);
    expect(answer.headers).to.include({ etag: tag, 'cache-control': 'private, no-cache' });
    expect(answer.headers).not.to.have.property('content-type');
    expect(answer.headers).to.have.property('ratelimit-remaining');
  }

  /**
   * Returns whether the ETag is still current. Expects that a conditional request and a plain one
   * agree on it.
   */
  async function isCurrent(path: string, key: string, tag: string): Promise<boolean> {
    const now = await get(path, key, { 'if-none-match': tag });
    const fresh = await get(path, key);
    expect(now.status).to.equal(tagOf(fresh) === tag ? 304 : 200);
    return now.status === 304;
  }

  it('cover exactly these operations', () => {
    const conditional = operations.filter((each) => each.conditional).map(({ id }) => id);
    expect(conditional).to.have.members([
      'listWalletProducts',
      'listSellerProducts',
      'listBuyerDeposits',
      'listSettlements',
      'getBuyerStatement',
      'getSellerStatement',
    ]);
  });

  for (const role of ['buyer', 'seller'] as const) {
    const paths =
      role === 'buyer'
        ? ['/v1/products?subcategory=none', '/api/buyer/deposits']
        : ['/api/seller/products', '/api/seller/settlements'];
    for (const path of [...paths, statement(role)]) {
      it(`${path}: 200 with an ETag, then 304 for one tag, several tags or *`, async () => {
        const { key } = await api.newAccount(role);
        const first = await get(path, key);
        expect(first.status).to.equal(200);
        const tag = tagOf(first);
        expect(first.headers['cache-control']).to.equal('private, no-cache');
        expect(first.headers['vary']).to.match(/\bAuthorization\b/);
        for (const known of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
          expectNotModified(await get(path, key, { 'if-none-match': known }), tag);
        }
        for (const other of ['"other"', tag.slice(3, -1), '', 'W/""']) {
          expect((await get(path, key, { 'if-none-match': other })).status, other).to.equal(200);
        }
        // Repeat the check with fetch, which adds headers of its own.
        const byFetch = await fetch(api.url() + path, {
          headers: { authorization: `Bearer ${key}`, 'if-none-match': tag },
        });
        expect([byFetch.status, await byFetch.text()]).to.deep.equal([304, '']);
        // Only messages are translated, so the tag does not depend on the language.
        const inIndonesian = { 'if-none-match': tag, 'accept-language': 'id' };
        expectNotModified(await get(path, key, inIndonesian), tag);
        const refused = await get(path, `${key}x`, { 'if-none-match': tag });
        expectFailure(refused, { status: 401, code: '07' });
        expect(refused.headers).to.include({ 'cache-control': 'no-store' }).and.not.to.have.property('etag');
        const wrong = await get(`${path}${path.includes('?') ? '&' : '?'}limit=x&tz=x&status=x`, key, {
          'if-none-match': '*',
        });
        expect([200, 304, 400]).to.include(wrong.status);
        expect(wrong.status === 400).to.equal(path !== '/api/seller/products');
      });
    }
  }

  it('a price list has a new tag after each change that it shows', async () => {
    const product = await newProduct(api);
    const { _id, sellerId } = product;
    const { key } = await api.newBuyer();
    const path = `/v1/products?subcategory=${product.subcategory}`;
    const changes: [what: string, change: () => Promise<unknown>][] = [
      ['price', () => changeOffer({ price: 10_400 })],
      ['name', () => changeProduct({ name: 'Another name' })],
      ['description', () => changeProduct({ description: 'New' })],
      ['operator', () => changeProduct({ operator: 'Other' })],
      ['maintenance', () => changeProduct({ status: 'maintenance' })],
      ['active again', () => changeProduct({ status: 'active' })],
      ['suspended seller', () => changeSeller('suspended')],
      ['active seller', () => changeSeller('active')],
      ['inactive', () => changeProduct({ status: 'inactive' })],
    ];
    const changeOffer = (set: object) =>
      writeAndInvalidate([OfferModel], null, (rows) => rows.updateOne({ productCode: _id }, { $set: set }));
    const changeProduct = (set: object) =>
      writeAndInvalidate([ProductModel], null, (rows) => rows.updateOne({ _id }, { $set: set }));
    const changeSeller = (status: string) =>
      writeAndInvalidate([AccountModel], null, (rows) =>
        rows.updateOne({ _id: sellerId }, { $set: { status } }),
      );
    let tag = tagOf(await get(path, key));
    for (const [what, change] of changes) {
      expect(await isCurrent(path, key, tag), `before ${what}`).to.equal(true);
      await change();
      expect(await isCurrent(path, key, tag), what).to.equal(false);
      tag = tagOf(await get(path, key));
    }
    // customerNumber is not part of the price list.
    await changeProduct({ customerNumber: { kind: 'any' } });
    expect(await isCurrent(path, key, tag)).to.equal(true);
  });

  it("a seller's products have a new tag after a change of price or wait time", async () => {
    const product = await newProduct(api);
    const { key } = await api.newAccount('seller');
    const path = '/api/seller/products';
    const empty = tagOf(await get(path, key));
    const offer = `${path}/${product._id}/offers`;
    await api.call({ method: 'POST', path: offer, key, body: { price: 10_000 } });
    expect(await isCurrent(path, key, empty)).to.equal(false);
    const first = tagOf(await get(path, key));
    await api.call({ method: 'POST', path: offer, key, body: { price: 10_001 } });
    expect(await isCurrent(path, key, first)).to.equal(false);
    const second = tagOf(await get(path, key));
    await writeAndInvalidate([ProductModel], null, (rows) =>
      rows.updateOne({ _id: product._id }, { $set: { maxWaitS: 60 } }),
    );
    expect(await isCurrent(path, key, second)).to.equal(false);
  });

  it('deposits and statements have a tag per account, page and zone, until a write', async () => {
    const { key, account } = await api.newBuyer(100_000);
    const other = await api.newBuyer(200_000);
    for (const path of ['/api/buyer/deposits', statement('buyer')]) {
      const tag = tagOf(await get(path, key));
      expect(await isCurrent(path, key, tag)).to.equal(true);
      expect(await isCurrent(path, other.key, tag), 'tag of another account').to.equal(false);
      const joint = path.includes('?') ? '&' : '?';
      expect(await isCurrent(`${path}${joint}tz=Asia/Jakarta`, key, tag)).to.equal(false);
      await createDeposit({ account, amount: 50_000, refId: uniqueRef() });
      expect(await isCurrent(path, key, tag)).to.equal(false);
    }
  });

  it('a statement as a file has no tag and never returns 304', async () => {
    const { key } = await api.newBuyer(100_000);
    const path = statement('buyer');
    const pages = await get(path, key);
    expect(pages.headers['vary']).to.match(/\bAccept\b(?!-)/);
    for (const [at, headers] of [
      [path, { accept: 'text/csv' }],
      [`${path}&format=csv`, {}],
      [`${path}&format=csv-excel`, {}],
    ] as const) {
      const answer = await fetch(`${api.url()}${at}`, {
        headers: { authorization: `Bearer ${key}`, 'if-none-match': tagOf(pages), ...headers },
      });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('content-type')).to.match(/^text\/csv/);
      expect(answer.headers.get('etag')).to.equal(null);
      expect(answer.headers.get('vary')).to.match(/\bAccept\b(?!-)/);
      expect(answer.headers.get('cache-control')).to.equal('private, no-store');
      expect((await answer.text()).length).to.be.greaterThan(20);
    }
  });
});
