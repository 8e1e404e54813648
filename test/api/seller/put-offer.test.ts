import { expect } from 'chai';
import { listProducts, putOffer } from '../../../src/api/seller/products.js';
import { OfferModel } from '../../../src/products/offer.model.js';
import { useApi } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectFailure, expectSuccess } from '../support/expect-answer.js';
import { itRefusesBodies, notText, notWhole } from '../support/refusals.js';

const pathOf = (code: string) => `/api/seller/products/${code}/offers`;

describe('POST /api/seller/products/{code}/offers', () => {
  const api = useApi();
  itRefusesBodies(api, putOffer, () => ({ path: pathOf('S10'), body: { price: 1 } }), {
    price: [...notWhole, undefined, -1, 0.5, 2 ** 53],
    status: [...notText, '', 'ACTIVE', 'deleted'],
  });

  const priceShown = async (subcategory: string) => {
    const { key } = await api.newBuyer();
    const answer = await api.call({ path: `/v1/products?subcategory=${subcategory}`, key });
    return (answer.body.data as { price: number }[])[0]?.price;
  };

  it('buyers see the cheapest active offer, and a repeat changes the offer', async () => {
    const product = await newProduct(api, { price: 10_500 });
    const { key } = await api.newAccount('seller');
    const first = await api.call({ path: pathOf(product._id), key, body: { price: 10_400 } });
    expectSuccess(first, putOffer);
    expect(first.body.data).to.deep.equal({ code: product._id, price: 10_400, status: 'active' });
    expect(await priceShown(product.subcategory)).to.equal(10_400);
    const body = { price: 10_300, status: 'inactive' };
    const second = await api.call({ path: pathOf(product._id), key, body });
    expect(second.body.data).to.deep.equal({ code: product._id, ...body });
    expect(await priceShown(product.subcategory)).to.equal(10_500);
    expect(await OfferModel.countDocuments({ productCode: product._id })).to.equal(2);
  });

  it("the seller's list shows the offer with its own price and status", async () => {
    const product = await newProduct(api);
    const { key } = await api.newAccount('seller');
    await api.call({ path: pathOf(product._id), key, body: { price: 0, status: 'maintenance' } });
    const answer = await api.call({ path: '/api/seller/products', key });
    expectSuccess(answer, listProducts);
    expect(answer.body.data).to.have.length(1);
    expect(answer.body.data[0]).to.include({ code: product._id, price: 0, status: 'maintenance' });
  });

  it('20 concurrent calls create one offer', async () => {
    const product = await newProduct(api);
    const { key, account } = await api.newAccount('seller');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        api.call({ path: pathOf(product._id), key, body: { price: 10_000 + n } }),
      ),
    );
    for (const answer of answers) {
      expectSuccess(answer, putOffer);
    }
    const offers = await OfferModel.find({ productCode: product._id, sellerId: account._id }).lean();
    expect(offers).to.have.length(1);
    expect(offers[0]?.price).to.be.within(10_000, 10_019);
  });

  it("refuses an unknown or another seller's inactive product with 404/02", async () => {
    const inactive = await newProduct(api, { status: 'inactive' });
    const { key, account } = await api.newAccount('seller');
    for (const code of ['NO-SUCH-PRODUCT', '__proto__', inactive._id]) {
      expectFailure(await api.call({ path: pathOf(code), key, body: { price: 1 } }), {
        status: 404,
        code: '02',
      });
    }
    expect(await OfferModel.countDocuments({ sellerId: account._id })).to.equal(0);
  });
});
