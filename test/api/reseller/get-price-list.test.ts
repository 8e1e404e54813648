import { expect } from 'chai';
import { getResellerPriceList } from '../../../src/api/reseller/balance-and-prices.js';
import { useApi, type ApiAccount } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectReseller } from '../support/expect-answer.js';
import { hmacSign, md5Sign, pathOf } from '../support/reseller.js';

describe('GET /api/reseller/price-list', () => {
  const api = useApi();
  const list = ({ account, key }: ApiAccount, query: Record<string, string>, hash = hmacSign) => {
    const { username } = account;
    return api.call({
      path: pathOf('price-list', { username, sign: hash({ username, key }, 'pricelist'), ...query }),
    });
  };

  it('lists code, name, price and status, with either sign', async () => {
    const product = await newProduct(api, { price: 9_900 });
    const buyer = await api.newBuyer();
    for (const hash of [hmacSign, md5Sign]) {
      const answer = await list(buyer, { operator: product.operator ?? '' }, hash);
      expectReseller(answer, getResellerPriceList, { status: '00', message: 'Success' });
      expect(answer.body.data).to.deep.equal([
        { code: product._id, name: product.name, price: 9_900, status: 'active' },
      ]);
    }
  });

  it('lists prepaid products unless another category is requested', async () => {
    const prepaid = await newProduct(api);
    const { operator } = prepaid;
    const postpaid = await newProduct(api, { category: 'pascabayar', operator });
    const buyer = await api.newBuyer();
    const codes = async (query: Record<string, string>) =>
      ((await list(buyer, { operator: operator ?? '', ...query })).body.data as { code: string }[]).map(
        (each) => each.code,
      );
    expect(await codes({})).to.deep.equal([prepaid._id]);
    expect(await codes({ category: 'prabayar' })).to.deep.equal([prepaid._id]);
    expect(await codes({ category: prepaid.subcategory })).to.deep.equal([prepaid._id]);
    expect(await codes({ category: 'pascabayar' })).to.deep.equal([postpaid._id]);
    expect(await codes({ category: 'PASCABAYAR', operator: operator?.toUpperCase() ?? '' })).to.deep.equal([
      postpaid._id,
    ]);
  });
});
