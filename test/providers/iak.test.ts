/** Features of IAK alone: two addresses, payment by the id of an inquiry, and a weak callback signature. */
import { expect } from 'chai';
import type { ProviderConnection } from '../../src/providers/adapter.js';
import { createIakAdapter } from '../../src/providers/iak.js';
import { getIakAddress } from '../../src/providers/iak-call.js';
import { newId } from '../../src/shared/ids.js';
import { orderOf } from './conformance.js';
import { startIakServer, type IakServer } from './iak-server.js';
import { startPlayServer } from './play-server.js';

const adapter = createIakAdapter(() => undefined);
const billTotal = 302_500;
const bill = (customerNumber = '530000000001') => ({
  ...orderOf({ productCode: 'PLNPOSTPAID', customerNumber }),
  billTotal,
});

describe('IAK', () => {
  let server: IakServer;
  let connection: ProviderConnection;
  beforeEach(async () => {
    server = await startIakServer();
    connection = {
      sellerId: 'seller',
      baseUrl: server.url,
      username: server.username,
      secret: server.apiKey,
    };
  });
  afterEach(() => server.stop());

  it('each of its own addresses stands for both of its APIs', () => {
    const both = (baseUrl: string) => [getIakAddress(baseUrl, 'prepaid'), getIakAddress(baseUrl, 'postpaid')];
    expect(both('https://prepaid.iak.id/')).to.deep.equal([
      'https://prepaid.iak.id',
      'https://mobilepulsa.net',
    ]);
    expect(both('https://prepaid.iak.dev')).to.deep.equal([
      'https://prepaid.iak.dev',
      'https://testpostpaid.mobilepulsa.net',
    ]);
    expect(both('https://mobilepulsa.net')).to.deep.equal(both('https://prepaid.iak.id'));
    expect(both('https://proxy.example/iak/')).to.deep.equal([
      'https://proxy.example/iak',
      'https://proxy.example/iak',
    ]);
  });

  it('never pays a bill twice under one reference', async () => {
    const order = bill();
    expect(await adapter.payBill(connection, order)).to.include({ outcome: 'success', cost: 301_900 });
    expect(await adapter.payBill(connection, order)).to.include({ outcome: 'unknown', code: '11' });
    expect(server.executions(order.providerRef)).to.equal(1);
    expect(await adapter.inquire(connection, order)).to.include({ outcome: 'success' });
  });

  it('two payments at once under one reference pay once', async () => {
    const order = bill();
    const outcomes = await Promise.all([1, 2].map(() => adapter.payBill(connection, order)));
    expect(outcomes.map(({ outcome }) => outcome).sort()).to.deep.equal(['success', 'unknown']);
    expect(server.executions(order.providerRef)).to.equal(1);
  });

  it('finds a bill unpaid that was only inquired about before a crash', async () => {
    const order = bill();
    await adapter.inquireBill(connection, order);
    expect(await adapter.inquire(connection, order)).to.include({ outcome: 'not-found', code: '42' });
    expect(server.executions(order.providerRef)).to.equal(0);
  });

  it('finds the payment by its status if the response was lost', async () => {
    const order = bill();
    server.silentFor.add(order.customerNumber);
    expect(await adapter.payBill(connection, order)).to.include({ outcome: 'unknown', code: 'TIMEOUT' });
    expect(await adapter.inquire(connection, order)).to.include({ outcome: 'success' });
    expect(server.executions(order.providerRef)).to.equal(1);
  });

  it('sells no bill below its cost', async () => {
    server.changeBills({ selling_price: 310_000 });
    const found = await adapter.inquireBill(connection, bill());
    expect(found).to.have.nested.property('bill.totalAmount', 310_000);
    const order = bill();
    expect(await adapter.payBill(connection, order)).to.include({ outcome: 'refused', failover: 'no' });
    expect(server.executions(order.providerRef)).to.equal(0);
  });

  it('reports a bill that is already paid, a wrong number and a timeout', async () => {
    const ask = (number: string) =>
      adapter.inquireBill(connection, { ...bill(number), providerRef: newId() });
    expect(await ask('530000000004')).to.include({ reason: 'already-paid' });
    expect(await ask('530000000005')).to.include({ reason: 'wrong-number', clientCode: '04' });
    expect(await ask('530000000003')).to.include({ outcome: 'unavailable' });
  });

  it('reads both price lists, in the old and the new layout', async () => {
    const list = await adapter.priceList(connection);
    expect(list.ok && list.value).to.deep.equal([
      {
        code: 'alfamart100',
        name: 'Alfamart Voucher Voucher Alfamart Rp 100.000',
        group: 'voucher',
        brand: 'Alfamart Voucher',
        cost: 100_000,
        available: true,
        cutOff: null,
      },
      {
        code: 'altel10',
        name: 'Malaysia Topup 10',
        group: 'voucher',
        brand: 'Malaysia Topup',
        cost: 39_750,
        available: false,
        cutOff: null,
      },
      {
        code: 'AETRA',
        name: 'AETRA',
        group: 'pdam',
        adminFee: 2_500,
        cost: 1_800,
        available: true,
        cutOff: null,
      },
      {
        code: 'BPJS',
        name: 'BPJS Kesehatan',
        group: 'bpjs',
        adminFee: 2_000,
        cost: 1_900,
        available: false,
        cutOff: null,
      },
    ]);
    const row = { product_code: 'a', product_price: 1_000, status: 'active' };
    const old = await startPlayServer((call, response) => {
      const isPostpaid = call.url.pathname.includes('bill');
      const data = isPostpaid ? { pasca: [] } : [row, { ...row, product_code: 'b', currency: 'USD' }];
      response.end(JSON.stringify({ data }));
    });
    const read = await adapter.priceList({ ...connection, baseUrl: old.url });
    await old.stop();
    expect(read).to.deep.include({ ok: true, unreadable: { rows: 1, codes: ['b'] } });
  });

  it('reads a balance and the owner of a meter', async () => {
    expect(await adapter.balance(connection)).to.deep.equal({ ok: true, value: 997_136_249 });
    expect(await adapter.inquireMeter?.(connection, '12345678901')).to.deep.equal({
      outcome: 'meter',
      name: 'Sintya Oktaviani',
      power: 'R1 /000001300',
    });
    expect(await adapter.inquireMeter?.(connection, '12345678902')).to.include({ outcome: 'wrong-number' });
  });

  it('a success must name our order and its status', async () => {
    const order = orderOf({ productCode: 'xld25000', customerNumber: '0817777215' });
    const ours = order.providerRef.replace('-', 'x');
    const answers = [
      { rc: '00', status: 1 },
      { rc: '00', ref_id: ours },
      { rc: '00', status: 2, ref_id: ours },
      { rc: '07', status: 1, ref_id: ours },
      { rc: '39', status: 1, ref_id: ours },
      { rc: '00', status: '1.00', ref_id: ours },
    ];
    for (const data of answers) {
      const played = await startPlayServer((_call, response) => response.end(JSON.stringify({ data })));
      const there = { ...connection, baseUrl: played.url };
      const text = JSON.stringify(data);
      expect(await adapter.buy(there, order), text).to.include({ outcome: 'unknown' });
      expect(await adapter.inquire(there, order), text).to.include({ outcome: 'unknown' });
      await played.stop();
    }
  });

  it('a callback with another status has the same signature, so it proves no outcome', () => {
    const raw = server.callback(`${newId()}-1`).toString();
    const forged = Buffer.from(raw.replace('"status":"1"', '"status":"2"'));
    expect(forged.toString()).not.to.equal(raw);
    expect(adapter.isCallbackSigned(connection, forged, {})).to.equal(true);
    expect(adapter).not.to.have.property('readCallbackOutcome');
  });
});
