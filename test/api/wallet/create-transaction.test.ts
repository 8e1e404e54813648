import { expect } from 'chai';
import { createWalletTransaction } from '../../../src/api/wallet/create-transaction.js';
import { PurchaseModel } from '../../../src/purchases/purchase.model.js';
import { uniqueRef } from '../../support/api-client.js';
import { useApi } from '../support/api.js';
import { newProduct } from '../support/catalogue.js';
import { itFollowsPurchaseContract } from '../support/purchase-contract.js';
import { itRefusesBodies, notText } from '../support/refusals.js';

const path = '/v1/transactions';

describe('POST /v1/transactions', () => {
  const api = useApi();
  itFollowsPurchaseContract(api, {
    operation: createWalletTransaction,
    fields: { code: 'product_code', number: 'destination' },
    createdStatus: 201,
  });
  itRefusesBodies(
    api,
    createWalletTransaction,
    () => ({ path, body: { product_code: 'S10', destination: '081234561230', ref_id: uniqueRef() } }),
    {
      callback_url: [
        ...notText.filter((each) => each !== null),
        '',
        'shop.example/hook',
        'ftp://shop.example/hook',
        'javascript:alert(1)',
        'https://user:secret@shop.example/hook',
        'https://shop.example:22/hook',
        `https://shop.example/${'x'.repeat(2_048)}`,
      ],
    },
  );

  it("stores the transaction's own callback_url; null uses the account's", async () => {
    const product = await newProduct(api);
    const { key } = await api.newBuyer(100_000);
    for (const callbackUrl of ['https://shop.example/own', null]) {
      const body = {
        product_code: product._id,
        destination: '081234561230',
        ref_id: uniqueRef(),
        callback_url: callbackUrl,
      };
      const answer = await api.call({ path, key, body });
      expect(answer.status).to.equal(201);
      const stored = await PurchaseModel.findById(answer.body.data.id).lean();
      expect(stored?.callbackUrl).to.equal(callbackUrl);
      expect(answer.body.data).to.include({
        status: 'PENDING',
        serial_number: null,
        code: answer.body.data.id,
      });
    }
  });
});
