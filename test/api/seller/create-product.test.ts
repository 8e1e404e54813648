import { expect } from 'chai';
import { createProduct } from '../../../src/api/seller/products.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { useApi } from '../support/api.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { itRefusesBodies, notText, notWhole } from '../support/refusals.js';

const path = '/api/seller/products';

describe('POST /api/seller/products', () => {
  const api = useApi();
  const bodyOf = (over: object = {}) => ({
    code: uniqueRef('P'),
    name: 'Voucher 10.000',
    category: 'prabayar',
    subcategory: 'voucher',
    price: 10_500,
    ...over,
  });
  const line = (max: number) => [...notText, '', 'x'.repeat(max + 1), 'a\u0000b', 'a\nb'];
  itRefusesBodies(api, createProduct, () => ({ path, body: bodyOf() }), {
    code: [...notText, undefined, '', 'x'.repeat(51), 'P 1', 'P/1', '../P1', 'P1\n'],
    name: [...line(100), undefined],
    category: [...notText, undefined, '', 'prepaid', 'PRABAYAR', 'pulsa'],
    subcategory: [...line(50), undefined],
    operator: line(50).filter((each) => JSON.stringify(each) !== 'null'),
    price: [...notWhole, undefined, -1, 0.5, 2 ** 53],
    status: [...notText, '', 'maintenance', 'ACTIVE'],
    max_wait_s: [...notWhole.filter((each) => JSON.stringify(each) !== 'null'), 0, 86_401],
  });

  it('returns 201; active and without operator by default; buyers see the price', async () => {
    const { key } = await api.newAccount('seller');
    const body = bodyOf();
    const answer = await api.call({ path, key, body });
    expectSuccess(answer, createProduct, { status: 201 });
    const defaults = { operator: null, status: 'active', description: null, max_wait_s: null };
    expect(answer.body.data).to.deep.equal({ ...body, ...defaults });
    const buyer = await api.newBuyer();
    const found = await api.call({ path: '/v1/products?subcategory=voucher', key: buyer.key });
    const shown = (found.body.data as { code: string }[]).find((each) => each.code === body.code);
    expect(shown).to.include({ code: body.code, price: 10_500, status: 'active' });
  });

  it('takes an operator of null as absent', async () => {
    const { key } = await api.newAccount('seller');
    const answer = await api.call({ path, key, body: bodyOf({ operator: null }) });
    expectSuccess(answer, createProduct, { status: 201 });
    expect(answer.body.data.operator).to.equal(null);
  });

  it('accepts price 0 and the longest value of each text', async () => {
    const { key } = await api.newAccount('seller');
    const long = bodyOf({
      code: uniqueRef('P').padEnd(50, '-'),
      name: 'n'.repeat(100),
      subcategory: 's'.repeat(50),
      max_wait_s: 86_400,
      operator: 'o'.repeat(50),
      price: 0,
      status: 'inactive',
      category: 'pascabayar',
    });
    const answer = await api.call({ path, key, body: long });
    expectSuccess(answer, createProduct, { status: 201 });
    expect(answer.body.data).to.include(long);
  });

  it('buyers neither find nor buy an inactive product', async () => {
    const { key } = await api.newAccount('seller');
    const body = bodyOf({ status: 'inactive', subcategory: uniqueRef('sub') });
    await api.call({ path, key, body });
    const buyer = await api.newBuyer(100_000);
    const list = await api.call({ path: `/v1/products?subcategory=${body.subcategory}`, key: buyer.key });
    expect(list.body.data).to.deep.equal([]);
    const order = { code: body.code, customer_number: '081234561230', ref_id: uniqueRef() };
    const bought = await api.call({ path: '/api/buyer/transaction', key: buyer.key, body: order });
    expectFailure(bought, { status: 404, code: '02' });
    const own = await api.call({ path, key });
    expect((own.body.data as { code: string }[]).map((each) => each.code)).to.deep.equal([body.code]);
  });

  it('refuses with 409/01 a code that is taken, also by another seller', async () => {
    const [one, two] = [await api.newAccount('seller'), await api.newAccount('seller')];
    const body = bodyOf();
    expectSuccess(await api.call({ path, key: one.key, body }), createProduct, { status: 201 });
    for (const { key } of [one, two]) {
      const answer = await api.call({ path, key, body: { ...body, price: body.price } });
      expectFailure(answer, { status: 409, code: '01', field: 'code' });
    }
    expect(await OfferModel.countDocuments({ productCode: body.code })).to.equal(1);
  });

  it('of 20 concurrent calls with one code, one returns 201 and the others 409', async () => {
    const { key } = await api.newAccount('seller');
    const body = bodyOf();
    const answers = await Promise.all(Array.from({ length: 20 }, () => api.call({ path, key, body })));
    const statuses = answers.map((each) => each.status).sort();
    expect(statuses).to.deep.equal([201, ...Array.from({ length: 19 }, () => 409)]);
  });
});
