import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { describedInterface } from '../../src/api/openapi/document.js';
import { createClient } from '../../packages/client-node/src/client.js';
import { uniqueRef } from '../support/api-client.js';
import { sizes } from '../support/sizes.js';
import { startStack } from '../support/stack.js';
import { runCollection } from './support/run-collection.js';

const file = getBuiltProgramPath('generated/topup.postman_collection.json');
const operations = Object.values(describedInterface().paths).flatMap((item) => Object.values(item));

describe('topup.postman_collection.json', function () {
  this.timeout(180_000);

  (sizes.contractTools ? it : it.skip)(
    "every call and every flow works in Postman's engine @sized",
    async () => {
      const stack = await startStack({
        workers: ['fulfilment', 'follow-up', 'webhooks', 'settlements', 'inquiries', 'reports'],
      });
      try {
        const { buyer, seller } = await stack.seed();
        const client = createClient({ baseUrl: stack.baseUrl, apiKey: buyer?.api_key ?? '' });
        await client.deposit({ amount: 1_000_000, ref_id: uniqueRef('collection') });
        const ran = await runCollection(await readFile(file, 'utf8'), {
          base_url: stack.baseUrl,
          username: 'buyer',
          buyer_key: buyer?.api_key ?? '',
          seller_key: seller?.api_key ?? '',
        });
        expect(ran.filter(({ error }) => error !== null)).to.deep.equal([]);
        expect(ran.map((each) => each.operationId)).to.have.members(
          operations.map(({ operationId }) => operationId),
        );
        const statusOf = new Map(ran.map(({ operationId, status }) => [operationId, status]));
        const ways = [
          'login',
          'createWalletTransaction',
          'getWalletTransaction',
          'createDeposit',
          'createBuyerTransaction',
          'getBuyerTransaction',
          'listBuyerTransactions',
          'getBuyerStatement',
          'createBuyerReport',
          'getBuyerReport',
          'createBuyerEndpoint',
          'getBuyerEndpoint',
          'createProduct',
          'updateProduct',
          'rotateBuyerKey',
          'rotateSellerKey',
          'getSellerConfig',
          'createResellerRequest',
          'getResellerPriceList',
          'getResellerBalance',
        ];
        for (const operationId of ways) {
          expect(statusOf.get(operationId), operationId).to.be.oneOf([200, 201, 202]);
        }
      } finally {
        await stack.stop();
      }
    },
  );
});
