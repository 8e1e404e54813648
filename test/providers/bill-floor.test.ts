/** A bill is never sold below what the provider takes. */
import { expect } from 'chai';
import type { ProviderAdapter, ProviderConnection } from '../../src/providers/adapter.js';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { sendJson, startPlayServer, type PlayServer } from './play-server.js';

describe('cost floor of bills', () => {
  let server: PlayServer;
  let connection: ProviderConnection;
  let bill: object;
  const digiflazz = createDigiflazzAdapter(() => undefined);
  const h2h = createH2hAdapter('h2h');
  const order = {
    providerRef: 'order-1',
    productCode: 'pln',
    customerNumber: '530000000001',
    costMax: 11_000,
  };

  before(async () => {
    server = await startPlayServer(({ raw }, response) => {
      const status = raw ? 'Sukses' : '00';
      const told = { rc: '00', status, ref_id: order.providerRef, message: 'ok', sn: 'SN', ...bill };
      sendJson(response, 200, raw ? { data: told } : told);
    });
    connection = { sellerId: 's', baseUrl: server.url, username: 'us', secret: 'secret' };
  });
  after(() => server.stop());
  beforeEach(() => (server.calls.length = 0));

  const commands = () => server.calls.map(({ raw }) => (JSON.parse(raw) as { commands: string }).commands);
  const inquire = async (adapter: ProviderAdapter) => {
    const found = await adapter.inquireBill(connection, order);
    return found.outcome === 'bill' ? found.bill : found;
  };

  it('raises the quote to the cost if the suggested total is lower', async () => {
    bill = { admin: 2_500, price: 102_500, selling_price: 101_350 };
    expect(await inquire(digiflazz)).to.include({
      totalAmount: 102_500,
      totalBill: 100_000,
      adminFee: 2_500,
    });
    bill = { admin: 0, price: 123_000, selling_price: 0 };
    expect(await inquire(digiflazz)).to.include({ totalAmount: 123_000, totalBill: 123_000, adminFee: 0 });
    bill = { admin_fee: 2_500, total_bill: 97_500, total_amount: 100_000, price: '102500' };
    expect(await inquire(h2h)).to.include({ totalAmount: 102_500, totalBill: 100_000, adminFee: 2_500 });
  });

  it('does not quote the bill of another inquiry, or one that failed', async () => {
    const amounts = { total_bill: 100_000, admin_fee: 2_500, total_amount: 102_500 };
    for (const other of [{ ref_id: 'order-2' }, { transaction_status: 'failed' }]) {
      bill = { ...amounts, ...other };
      expect(await inquire(h2h), JSON.stringify(other)).to.include({ outcome: 'unavailable' });
    }
    bill = { ...amounts, transaction_status: 'success' };
    expect(await inquire(h2h)).to.include({ totalAmount: 102_500 });
  });

  it('does not sell a bill whose amounts are negative, zero or contradictory', async () => {
    for (const [adapter, amounts] of [
      [digiflazz, { admin: 2_500, price: 100_000, selling_price: 0 }],
      [digiflazz, { admin: 0, price: 0, selling_price: 0 }],
      [digiflazz, { admin: 2_500, price: null, selling_price: 102_500 }],
      [h2h, { total_bill: 100_000, admin_fee: 2_500, total_amount: 0 }],
      [h2h, { total_bill: 0, admin_fee: 0, total_amount: 0 }],
      [h2h, { total_bill: -2_500, admin_fee: 2_500, total_amount: 0 }],
      [h2h, { total_bill: 100_000, admin_fee: 2_500, total_amount: 205_001 }],
      [h2h, { total_bill: 0, admin_fee: 0, total_amount: 102_500 }],
      [h2h, { total_bill: 100_000, admin_fee: 2_500, total_amount: 10_250_000, price: 100_500 }],
    ] as const) {
      bill = amounts;
      expect(await inquire(adapter), JSON.stringify(amounts)).to.include({ outcome: 'unavailable' });
    }
  });

  it('quotes a bill whose penalty is no part of it', async () => {
    bill = { total_bill: 100_000, admin_fee: 2_500, total_amount: 205_000 };
    expect(await inquire(h2h)).to.include({ totalAmount: 205_000 });
  });

  it('does not pay a bill whose cost rose above the agreed total', async () => {
    const payment = { ...order, billTotal: 11_000 };
    bill = { admin: 2_500, price: 11_001, selling_price: 11_000 };
    expect(await digiflazz.payBill(connection, payment)).to.include({
      outcome: 'refused',
      failover: 'no',
      code: 'BILL_CHANGED',
    });
    bill = { admin: 2_500, price: 10_000, selling_price: 0 };
    expect(await digiflazz.payBill(connection, payment)).to.include({ outcome: 'refused', failover: 'no' });
    expect(commands()).to.deep.equal(['inq-pasca', 'inq-pasca']);
  });

  it('pays a bill at the agreed total while its cost is not above it', async () => {
    bill = { admin: 2_500, price: 11_000, selling_price: 11_000 };
    expect(await digiflazz.payBill(connection, { ...order, billTotal: 11_000 })).to.include({
      outcome: 'success',
      cost: 11_000,
    });
    expect(commands()).to.deep.equal(['inq-pasca', 'pay-pasca']);
  });

  it('sends a number with a dot, and an identity number, as Digiflazz expects them', async () => {
    bill = { admin: 0, price: 1_000, selling_price: 1_000 };
    const sent = async (customerNumber: string) => {
      await digiflazz.inquireBill(connection, { ...order, customerNumber });
      return JSON.parse(server.calls.at(-1)?.raw ?? '') as object;
    };
    expect(await sent('12.34')).to.include({ customer_no: '12.34', allow_dot: true });
    expect(await sent('530000000001')).to.not.have.any.keys('allow_dot', 'id_pelanggan2');
    expect(await sent('9658548523568705,0212502110170100')).to.include({
      customer_no: '9658548523568705',
      id_pelanggan2: '0212502110170100',
    });
  });
});
