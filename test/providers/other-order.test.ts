/** A response that states another product or customer than ordered is not about the order. */
import { expect } from 'chai';
import type { ProviderConnection } from '../../src/providers/adapter.js';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { sendJson, startPlayServer, type PlayServer } from './play-server.js';

describe('a response of Digiflazz about another order', () => {
  const digiflazz = createDigiflazzAdapter(() => undefined);
  const order = {
    providerRef: 'order-1',
    productCode: 'xld10',
    customerNumber: '087800001230',
    costMax: 11_000,
    sentAt: new Date(Date.now() - 3_600_000),
  };
  const bill = { admin: 2_500, price: 101_000, selling_price: 102_500 };
  let server: PlayServer;
  let connection: ProviderConnection;
  let stated: object;

  before(async () => {
    server = await startPlayServer((_call, response) => {
      const success = { rc: '00', status: 'Sukses', ref_id: order.providerRef, message: 'ok', sn: 'SN' };
      const meter = { name: 'DAVID', segment_power: 'R1' };
      sendJson(response, 200, { data: { ...success, ...bill, ...meter, ...stated } });
    });
    connection = { sellerId: 's', baseUrl: server.url, username: 'us', secret: 'secret' };
  });
  after(() => server.stop());

  const ask = async (customerNumber = order.customerNumber) => {
    const asked = { ...order, customerNumber };
    const answers = [
      await digiflazz.buy(connection, asked),
      await digiflazz.inquire(connection, asked),
      await digiflazz.inquireBill(connection, asked),
    ];
    return answers.map(({ outcome }) => outcome).join(' ');
  };

  it('decides nothing, and quotes no bill', async () => {
    for (const other of [
      { customer_no: '087800001231' },
      { buyer_sku_code: 'xld100' },
      { customer_no: '087800001230', buyer_sku_code: 'xld5' },
      { customer_no: 87_800_001_231 },
    ]) {
      stated = other;
      expect(await ask(), JSON.stringify(other)).to.equal('unknown unknown unavailable');
    }
  });

  it('is not one that writes the number or the code in another form', async () => {
    for (const [form, number] of [
      [{ customer_no: ' 0878-0000-1230 ', buyer_sku_code: 'XLD10 ' }],
      [{ customer_no: '+6287800001230' }],
      [{ customer_no: 87_800_001_230 }],
      [{ customer_no: '' }],
      [{ customer_no: null, buyer_sku_code: [] }],
      [{ customer_no: '32720100010000' }, '32.72.010.001.000-0'],
      [{ customer_no: '9658548523568705' }, '9658548523568705,0212502110170100'],
      [{ customer_no: '9658548523568705,0212502110170100' }, '9658548523568705,0212502110170100'],
    ] as [object, string?][]) {
      stated = form;
      expect(await ask(number), JSON.stringify(form)).to.equal('success success bill');
    }
  });

  it('names no owner of another meter', async () => {
    const check = async () => (await digiflazz.inquireMeter?.(connection, '1234554321'))?.outcome;
    stated = { customer_no: '1234554329', meter_no: '1234554329', subscriber_id: '523300817840' };
    expect(await check()).to.equal('unavailable');
    for (const own of [
      { customer_no: '523300817840', meter_no: '1234554321' },
      { customer_no: '1234554321' },
      {},
    ]) {
      stated = own;
      expect(await check(), JSON.stringify(own)).to.equal('meter');
    }
  });
});
