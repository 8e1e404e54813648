import { expect } from 'chai';
import { updateProduct } from '../../../src/api/seller/products.js';
import { uniqueRef } from '../../support/api-client.js';
import { useApi, type ApiAccount } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { notText, notWhole } from '../support/refusals.js';

describe('PUT /api/seller/products/{code}', () => {
  const api = useApi();

  async function sellerWithProduct(): Promise<
    ApiAccount & { code: string; path: string; subcategory: string }
  > {
    const seller = await api.newAccount('seller');
    const [code, subcategory] = [uniqueRef('P'), uniqueRef('sub')];
    const body = { code, name: 'Voucher', category: 'prabayar', subcategory, price: 10_500 };
    await api.call({ path: '/api/seller/products', key: seller.key, body });
    return { ...seller, code, subcategory, path: `/api/seller/products/${code}` };
  }
  const put = ({ path, key }: { path: string; key: string }, body: object) =>
    api.call({ method: 'PUT', path, key, body });
  const shownToBuyers = async (subcategory: string) => {
    const { key } = await api.newBuyer();
    const answer = await api.call({ path: `/v1/products?subcategory=${subcategory}`, key });
    return answer.body.data as { code: string; price: number; status: string; description: string | null }[];
  };

  it('changes the given fields and keeps the rest', async () => {
    const seller = await sellerWithProduct();
    const price = await put(seller, { price: 9_000 });
    expectSuccess(price, updateProduct);
    expect(price.body.data).to.deep.equal({
      code: seller.code,
      name: 'Voucher',
      price: 9_000,
      status: 'active',
      max_wait_s: null,
    });
    await put(seller, { description: 'Valid for 30 days' });
    const [shown] = await shownToBuyers(seller.subcategory);
    expect(shown).to.include({ price: 9_000, status: 'active', description: 'Valid for 30 days' });
  });

  it('refuses a body without a field to change', async () => {
    const seller = await sellerWithProduct();
    for (const body of [{}, { harga: 9_000 }, { Price: 9_000, name: 'Other' }]) {
      const answer = await put(seller, body);
      expectFailure(answer, { status: 400, code: '01', field: 'body' });
      expect(answer.body.errors, JSON.stringify(body)).to.deep.equal([
        {
          field: 'body',
          reason: 'missing',
          message: 'one of price, status, description, max_wait_s must be given',
        },
      ]);
    }
    expect((await put(seller, { price: 9_500, harga: 9_000 })).body.data.price).to.equal(9_500);
    const [shown] = await shownToBuyers(seller.subcategory);
    expect(shown).to.include({ price: 9_500, name: 'Voucher' });
  });

  it('changes any status to any; buyers never see inactive products', async () => {
    const seller = await sellerWithProduct();
    for (const status of ['maintenance', 'inactive', 'maintenance', 'active', 'inactive', 'active']) {
      const answer = await put(seller, { status });
      expectSuccess(answer, updateProduct);
      expect(answer.body.data.status).to.equal(status);
      const statuses = (await shownToBuyers(seller.subcategory)).map((each) => each.status);
      expect(statuses).to.deep.equal(status === 'inactive' ? [] : [status]);
    }
  });

  it('accepts price 0 and a description of 0 or 500 characters', async () => {
    const seller = await sellerWithProduct();
    for (const body of [{ price: 0 }, { description: '' }, { description: 'd'.repeat(500) }]) {
      expectSuccess(await put(seller, body), updateProduct);
    }
  });

  it('accepts max_wait_s of 1 s to a day or null, and hides it from buyers', async () => {
    const seller = await sellerWithProduct();
    for (const value of [1, 86_400, null]) {
      const answer = await put(seller, { max_wait_s: value });
      expectSuccess(answer, updateProduct);
      expect(answer.body.data.max_wait_s).to.equal(value);
      expect((await put(seller, { price: 9_000 })).body.data.max_wait_s, 'unchanged max_wait_s').to.equal(
        value,
      );
      const own = await api.call({ path: '/api/seller/products', key: seller.key });
      expect(own.body.data[0].max_wait_s).to.equal(value);
    }
    const [shown] = await shownToBuyers(seller.subcategory);
    expect(shown).not.to.have.property('max_wait_s');
  });

  it('refuses an invalid field with 400/01, names it and changes nothing', async () => {
    const seller = await sellerWithProduct();
    const wrong = {
      price: [...notWhole, -1, 2 ** 53],
      status: [...notText, '', 'ACTIVE', 'deleted'],
      description: [...notText, 'd'.repeat(501), 'a\u0000b'],
      max_wait_s: [...notWhole.filter((each) => JSON.stringify(each) !== 'null'), 0, -1, 86_401],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const answer = await put(seller, { price: 1, status: 'inactive', description: 'x', [field]: value });
        expectFailure(answer, { status: 400, code: '01', field });
      }
    }
    const [shown] = await shownToBuyers(seller.subcategory);
    expect(shown).to.include({ price: 10_500, status: 'active', description: null });
  });

  it("refuses an unknown product or another seller's with 404/02", async () => {
    const [owner, other] = [await sellerWithProduct(), await api.newAccount('seller')];
    const offer = { price: 10_400, status: 'active' };
    expect((await api.call({ path: `${owner.path}/offers`, key: other.key, body: offer })).status).to.equal(
      200,
    );
    const change = { price: 1, status: 'inactive', description: 'taken over' };
    expectFailure(await put({ path: owner.path, key: other.key }, change), { status: 404, code: '02' });
    const unknown = { path: '/api/seller/products/NO-SUCH-PRODUCT', key: owner.key };
    expectFailure(await put(unknown, change), { status: 404, code: '02' });
    const own = await api.call({ path: '/api/seller/products', key: other.key });
    expect(own.body.data[0]).to.include({ code: owner.code, price: 10_400, status: 'active' });
    const unchanged = await put(owner, { max_wait_s: null });
    expect(unchanged.body.data).to.include({ price: 10_500, status: 'active' });
  });
});
