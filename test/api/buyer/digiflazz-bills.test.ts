import { expect } from 'chai';
import { apiClient, uniqueRef, type ApiClient } from '../../support/api-client.js';
import { deposit } from '../../support/deposit.js';
import { eventually } from '../../support/eventually.js';
import { expectLedgerToBalance } from '../../support/ledger.js';
import { startStack, type Stack } from '../../support/stack.js';
import { startDigiflazzServer, type DigiflazzServer } from '../../providers/digiflazz-server.js';
import { pointSeller } from '../../providers/provider-stack.js';

describe('bills of Digiflazz', () => {
  let stack: Stack;
  let buyer: ApiClient;
  let digiflazz: DigiflazzServer;

  before(async () => {
    digiflazz = await startDigiflazzServer();
    stack = await startStack({ workers: ['all'] });
    const accounts = await stack.seed();
    for (const username of ['seller', 'seller2']) {
      await pointSeller(stack, username, {
        kind: 'digiflazz',
        baseUrl: digiflazz.url,
        username: digiflazz.username,
        secret: digiflazz.apiKey,
      });
    }
    buyer = apiClient(stack.baseUrl, accounts['buyer']?.api_key ?? '');
    await deposit(buyer, 1_000_000);
  });
  after(async () => {
    await stack.stop();
    await digiflazz.stop();
  });

  const inquire = async (customer_number: string) =>
    (await buyer.post('/api/buyer/inquiry', { code: 'PLNPOST', customer_number })).body.data;

  it('an inquiry shows every month and the details of the bill', async () => {
    digiflazz.changeBills({});
    expect(await inquire('530000000002')).to.deep.equal({
      customer_number: '530000000002',
      customer_name: 'Nama Pelanggan Pertama',
      bill_period: '2019-02',
      total_bill: 17_000,
      admin_fee: 5_000,
      total_amount: 22_000,
      details: {
        periods: ['2019-01', '2019-02'],
        tariff: 'R1',
        power: '1300',
        sheets: 2,
        penalty: 1_000,
        sheet_details: [
          { period: '2019-01', amount: 8_000, penalty: 500 },
          { period: '2019-02', amount: 8_000, penalty: 500 },
        ],
      },
    });
  });

  it('a period that is not understood is null, with the text in the details', async () => {
    digiflazz.changeBills({ desc: [], periode: 'tagihan bulan ini', customer_name: '' });
    expect(await inquire('530000000001')).to.deep.include({
      customer_name: '-',
      bill_period: null,
      details: { period_text: 'tagihan bulan ini' },
    });
  });

  it('a bill below cost is quoted and paid at its cost', async () => {
    digiflazz.changeBills({ admin: 0, price: 123_000, selling_price: 0 });
    expect(await inquire('530000000001')).to.include({ total_bill: 123_000, total_amount: 123_000 });
    const bill = { code: 'PLNPOST', customer_number: '530000000001', ref_id: uniqueRef() };
    const paid = await buyer.post('/api/buyer/payment', bill);
    expect(paid.body.data).to.include({ price: 123_000 });
    const status = await eventually('the payment is final', async () => {
      const { body } = await buyer.get(`/v1/transactions/${paid.body.data.transaction_id}`);
      return ['SUCCESS', 'FAILED'].includes(body.data.status) ? body.data.status : null;
    });
    expect(status).to.equal('SUCCESS');
    await expectLedgerToBalance(stack);
  });

  it('a bill with a negative amount is not sold', async () => {
    digiflazz.changeBills({ admin: 2_500, price: 10_000, selling_price: 0 });
    const answer = await buyer.post('/api/buyer/inquiry', {
      code: 'PLNPOST',
      customer_number: '530000000001',
    });
    expect([answer.status, answer.body.code]).to.deep.equal([503, '03']);
    const quote = await stack.db.collection('quotes').findOne({}, { sort: { createdAt: -1 } });
    expect((quote?.['refusal'] as { message: string }).message).to.include('cannot be sold');
  });
});
