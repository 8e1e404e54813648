import { expect } from 'chai';
import { CaseModel, type ReconciliationCase } from '../../../src/purchases/case.model.js';
import { PurchaseModel, type Purchase } from '../../../src/purchases/purchase.model.js';
import { openShop } from '../../jobs/sold-purchases.js';
import { sendJson, startPlayServer, type PlayServer } from '../../providers/play-server.js';
import { useDatabase } from '../../webhooks/support/database.js';
import { fulfilById } from './fulfil-by-id.js';

describe('cost above the maximum of an order', () => {
  let server: PlayServer;
  let price: unknown;
  after(() => server.stop());
  useDatabase();
  before(async () => {
    server = await startPlayServer(({ raw, url }, response) => {
      const { ref_id, max_price } = JSON.parse(raw || '{}') as { ref_id: string; max_price: number };
      const order = { ref_id, rc: '00', status: 'Sukses', message: 'Sukses', sn: `SN${ref_id}`, price };
      sendJson(response, 200, { data: url.pathname === '/transaction' ? order : { deposit: 1_000_000 } });
      expect(max_price).to.equal(1_000);
    });
  });

  async function sell(told: unknown): Promise<{ purchase: Purchase; cases: ReconciliationCase[] }> {
    price = told;
    const { _id } = await (await openShop(server.url, { kind: 'digiflazz' })).buy();
    await fulfilById(_id);
    const purchase = await PurchaseModel.findById(_id).lean<Purchase>().orFail();
    return { purchase, cases: await CaseModel.find({ transactionId: _id }).lean<ReconciliationCase[]>() };
  }

  it('the sale succeeds, and a case names the cost and the maximum', async () => {
    for (const told of [1_200, '1200', 1_199.5]) {
      const { purchase, cases } = await sell(told);
      expect(purchase).to.include({ status: 'SUCCESS', price: 1_000 });
      expect(cases.map(({ kind, detail }) => ({ kind, detail }))).to.deep.equal([
        {
          kind: 'cost-above-maximum',
          detail: 'The provider took 1200 rupiah for attempt 1. The maximum sent with it was 1000 rupiah.',
        },
      ]);
    }
  });

  it('a cost up to the maximum, or one that is not stated, opens no case', async () => {
    for (const told of [1_000, '999.5', null, undefined, 'Rp 1.200']) {
      const { purchase, cases } = await sell(told);
      expect([purchase.status, cases.length], String(told)).to.deep.equal(['SUCCESS', 0]);
    }
  });
});
