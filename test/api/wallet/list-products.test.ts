import { expect } from 'chai';
import { listWalletProducts } from '../../../src/api/wallet/queries.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { writeAndInvalidate } from '../../../src/redis/publish-changes.js';
import { useApi } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';

const path = '/v1/products';

describe('GET /v1/products', () => {
  const api = useApi();

  const codesOf = async (query: Record<string, string>) => {
    const { key } = await api.newBuyer();
    const answer = await api.call({ path: `${path}?${new URLSearchParams(query).toString()}`, key });
    expectSuccess(answer, listWalletProducts);
    return (answer.body.data as { code: string }[]).map((each) => each.code);
  };

  it('the price is the cheapest active offer of an active seller', async () => {
    const product = await newProduct(api, { price: 10_500 });
    const offer = async (
      price: number,
      status: 'active' | 'inactive',
      sellerStatus: 'active' | 'suspended',
    ) => {
      const { account } = await api.newAccount('seller', { status: sellerStatus });
      const _id = `${product._id}:${account._id}`;
      await writeAndInvalidate([OfferModel], null, (rows) =>
        rows.create([{ _id, productCode: product._id, sellerId: account._id, price, status }]),
      );
    };
    await offer(10_400, 'active', 'active');
    await offer(10_100, 'inactive', 'active');
    await offer(10_000, 'active', 'suspended');
    const { key } = await api.newBuyer();
    const answer = await api.call({ path: `${path}?subcategory=${product.subcategory}`, key });
    expectSuccess(answer, listWalletProducts);
    expect(answer.body.data).to.deep.equal([
      {
        code: product._id,
        name: product.name,
        category: 'prabayar',
        subcategory: product.subcategory,
        operator: product.operator,
        price: 10_400,
        status: 'active',
        description: null,
      },
    ]);
  });

  it('shows active and maintenance products, never inactive ones', async () => {
    const subcategory = (await newProduct(api))._id;
    const active = await newProduct(api, { subcategory });
    const maintained = await newProduct(api, { subcategory, status: 'maintenance' });
    await newProduct(api, { subcategory, status: 'inactive' });
    expect(await codesOf({ subcategory })).to.have.members([active._id, maintained._id]);
    expect(await codesOf({ subcategory, status: 'active' })).to.deep.equal([active._id]);
    expect(await codesOf({ subcategory, status: 'maintenance' })).to.deep.equal([maintained._id]);
    expect(await codesOf({ subcategory, status: 'Maintenance' })).to.deep.equal([maintained._id]);
    expect(await codesOf({ subcategory: subcategory.toLowerCase() })).to.have.members([
      active._id,
      maintained._id,
    ]);
    expect(await codesOf({ subcategory, status: 'inactive' })).to.deep.equal([]);
  });

  it('category accepts prabayar, pascabayar or a subcategory; operator narrows it', async () => {
    const prepaid = await newProduct(api);
    const { subcategory } = prepaid;
    const postpaid = await newProduct(api, { category: 'pascabayar', subcategory });
    expect(await codesOf({ category: 'prabayar', subcategory })).to.deep.equal([prepaid._id]);
    expect(await codesOf({ category: 'pascabayar', subcategory })).to.deep.equal([postpaid._id]);
    expect(await codesOf({ category: subcategory })).to.have.members([prepaid._id, postpaid._id]);
    expect(await codesOf({ category: subcategory, operator: prepaid.operator ?? '' })).to.deep.equal([
      prepaid._id,
    ]);
    expect(await codesOf({ category: 'no-such-category' })).to.deep.equal([]);
  });

  it('ignores unknown query parameters', async () => {
    const { subcategory, _id } = await newProduct(api);
    expect(await codesOf({ subcategory, sort: 'price', __proto__x: '1' })).to.deep.equal([_id]);
  });

  it('refuses repeated, unknown, malformed or too long parameters with 400/01', async () => {
    const { key } = await api.newBuyer();
    const refusals: [query: string, field: string][] = [
      ['operator=XL&operator=Axis', 'operator'],
      ['status=sold', 'status'],
      ['category=a%00b', 'category'],
      [`subcategory=${'x'.repeat(51)}`, 'subcategory'],
      ['operator=', 'operator'],
    ];
    for (const [query, field] of refusals) {
      expectFailure(await api.call({ path: `${path}?${query}`, key }), { status: 400, code: '01', field });
    }
  });
});
