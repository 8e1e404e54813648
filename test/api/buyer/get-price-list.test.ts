import { expect } from 'chai';
import { getBuyerPriceList } from '../../../src/api/buyer/get-price-list.js';
import { useApi } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { expectSuccess } from '../support/expect-answer.js';
import { itRefusesBodies, notText } from '../support/refusals.js';

const path = '/api/buyer/price-list';

describe('POST /api/buyer/price-list', () => {
  const api = useApi();
  const good = () => ({ path, body: {} });
  const wrong = [...notText, '', 'x'.repeat(51), 'a\u0000b'];
  itRefusesBodies(api, getBuyerPriceList, good, { category: wrong, operator: wrong });

  it('filters by category, subcategory and operator; omits inactive products', async () => {
    const prepaid = await newProduct(api);
    const { subcategory, operator } = prepaid;
    const postpaid = await newProduct(api, { category: 'pascabayar', operator });
    await newProduct(api, { operator, status: 'inactive' });
    const { key } = await api.newBuyer();
    const codes = async (body: object) => {
      const answer = await api.call({ path, key, body });
      expectSuccess(answer, getBuyerPriceList);
      return (answer.body.data as { code: string }[]).map((each) => each.code);
    };
    expect(await codes({ operator })).to.have.members([prepaid._id, postpaid._id]);
    expect(await codes({ operator, category: 'prabayar' })).to.deep.equal([prepaid._id]);
    expect(await codes({ operator, category: 'pascabayar' })).to.deep.equal([postpaid._id]);
    expect(await codes({ category: subcategory })).to.deep.equal([prepaid._id]);
    expect(await codes({ operator: operator?.toUpperCase(), category: 'PraBayar' })).to.deep.equal([
      prepaid._id,
    ]);
    expect(await codes({ category: subcategory.toUpperCase() })).to.deep.equal([prepaid._id]);
    expect(await codes({ operator: 'nobody' })).to.deep.equal([]);
    expect(await codes({})).to.include.members([prepaid._id, postpaid._id]);
  });
});
