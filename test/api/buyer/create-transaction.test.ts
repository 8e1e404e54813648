import { expect } from 'chai';
import { createBuyerTransaction } from '../../../src/api/buyer/create-purchases.js';
import { uniqueRef } from '../../support/api-client.js';
import { useApi } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { itFollowsPurchaseContract } from '../support/purchase-contract.js';

const path = '/api/buyer/transaction';

describe('POST /api/buyer/transaction', () => {
  const api = useApi();
  itFollowsPurchaseContract(api, {
    operation: createBuyerTransaction,
    fields: { code: 'code', number: 'customer_number' },
    createdStatus: 200,
  });

  it('returns pending with the normalised number and no sn', async () => {
    const product = await newProduct(api);
    const { key } = await api.newBuyer(100_000);
    const body = { code: product._id, customer_number: '+62 812-3456-1230', ref_id: uniqueRef() };
    const { data } = (await api.call({ path, key, body })).body;
    expect(data).to.include({
      code: product._id,
      customer_number: '081234561230',
      product_name: product.name,
      status: 'pending',
      sn: null,
    });
  });

  it('refuses a ref_id that cannot be the last segment of a path', async () => {
    const product = await newProduct(api);
    const { key } = await api.newBuyer(100_000);
    for (const ref of ['.', '..', 'lookup']) {
      const body = { code: product._id, customer_number: '081234561230', ref_id: ref };
      const answer = await api.call({ path, key, body });
      expect([answer.status, answer.body.errors?.[0]?.field], ref).to.deep.equal([400, 'ref_id']);
    }
    const body = { code: product._id, customer_number: '081234561230', ref_id: 'lookup.' };
    expect((await api.call({ path, key, body })).status).to.equal(200);
  });
});
