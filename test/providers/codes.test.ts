/** Every response code of the two protocols, sent by a real HTTP server. */
import { expect } from 'chai';
import type { ProviderConnection, ProviderOutcome } from '../../src/providers/adapter.js';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { rcMeanings } from '../../src/providers/digiflazz-response-codes.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { setClock } from '../../src/shared/clock.js';
import { orderOf } from './conformance.js';
import { startDigiflazzServer, type DigiflazzServer } from './digiflazz-server.js';
import { sendJson, startPlayServer, type PlayServer } from './play-server.js';

type Expected = Partial<Extract<ProviderOutcome, { outcome: 'refused' }>> | { outcome: string };

const wrongNumber: Expected = { outcome: 'refused', failover: 'no', clientCode: '04' };
const mistake: Expected = { outcome: 'refused', failover: 'no', clientCode: '01' };
const nextSeller: Expected = { outcome: 'refused', failover: 'yes', clientCode: '03' };
const confirm: Expected = { outcome: 'refused', failover: 'confirm', clientCode: '03' };
const configurationFault: Expected = { ...nextSeller, fault: 'configuration' };
const floatFault: Expected = { ...nextSeller, fault: 'float' };

/**
 * Each row: rc, documented meaning, status field, outcome for an order, and the outcome for a
 * status check if that differs.
 */
const table: [string, string, 'Sukses' | 'Pending' | 'Gagal', Expected, Expected?][] = [
  ['00', 'success', 'Sukses', { outcome: 'success' }],
  ['01', 'timeout', 'Gagal', confirm, nextSeller],
  ['02', 'failed', 'Gagal', { outcome: 'refused', failover: 'yes', clientCode: '01' }],
  ['03', 'pending', 'Pending', { outcome: 'pending' }],
  ['40', 'payload error', 'Gagal', configurationFault, { outcome: 'unknown' }],
  ['41', 'wrong signature', 'Gagal', configurationFault, { outcome: 'unknown' }],
  ['42', 'buyer API not processed', 'Gagal', configurationFault, { outcome: 'unknown' }],
  ['43', 'SKU not found or inactive', 'Gagal', { outcome: 'refused', failover: 'yes', clientCode: '02' }],
  ['44', 'our balance is too low', 'Gagal', floatFault, { outcome: 'not-found' }],
  ['45', 'our address is not known', 'Gagal', configurationFault, { outcome: 'unknown' }],
  ['47', 'already done at another buyer', 'Gagal', { outcome: 'review' }],
  ['49', 'ref_id not unique', 'Gagal', { outcome: 'review' }],
  ['50', 'transaction not found', 'Gagal', { outcome: 'review' }],
  ['51', 'number blocked', 'Gagal', wrongNumber],
  ['52', 'prefix of another operator', 'Gagal', wrongNumber],
  ['53', "seller's product not available", 'Gagal', nextSeller],
  ['54', 'wrong number', 'Gagal', wrongNumber],
  ['55', 'product disrupted', 'Gagal', nextSeller],
  ['56', "limit of the seller's balance", 'Gagal', nextSeller],
  ['57', 'number of digits', 'Gagal', wrongNumber],
  ['58', 'cut-off', 'Gagal', nextSeller],
  ['59', 'outside the region', 'Gagal', wrongNumber],
  ['60', 'no bill yet', 'Gagal', { outcome: 'refused', failover: 'no', clientCode: '02' }],
  ['61', 'never deposited', 'Gagal', floatFault, { outcome: 'not-found' }],
  ['62', 'seller disrupted', 'Gagal', nextSeller],
  ['63', 'no repeated transactions', 'Gagal', nextSeller],
  ['64', 'ticket could not be drawn', 'Gagal', { outcome: 'refused', failover: 'yes', clientCode: '01' }],
  ['66', 'seller in repair', 'Gagal', nextSeller],
  ['67', 'seller without server', 'Gagal', nextSeller],
  ['68', 'out of stock', 'Gagal', nextSeller],
  ['69', 'price above the maximum', 'Gagal', nextSeller],
  ['70', 'timeout of the biller', 'Gagal', confirm, nextSeller],
  ['71', 'product unstable', 'Gagal', nextSeller],
  ['72', 'a package must be ended first', 'Gagal', mistake],
  ['73', 'over the kWh limit', 'Gagal', mistake],
  ['74', 'refunded', 'Gagal', { outcome: 'reversed' }],
  ['80', 'blocked by the seller', 'Gagal', nextSeller],
  ['81', 'seller blocked by us', 'Gagal', nextSeller],
  ['82', 'our account not verified', 'Gagal', configurationFault, { outcome: 'unknown' }],
  ['83', 'limit of the price list', 'Gagal', { outcome: 'unknown' }],
  ['84', 'amount not valid', 'Gagal', mistake],
  ['85', 'transactions limited', 'Gagal', nextSeller],
  ['86', 'limit of PLN inquiries', 'Gagal', { outcome: 'unknown' }],
  ['87', 'not a multiple of 1,000', 'Gagal', mistake],
  ['88', 'our configuration', 'Gagal', configurationFault, { outcome: 'unknown' }],
  ['99', 'router issue', 'Pending', { outcome: 'unknown' }],
];

describe('response codes of Digiflazz', () => {
  let server: DigiflazzServer;
  let connection: ProviderConnection;
  const adapter = createDigiflazzAdapter(() => undefined);
  const story = { productCode: 'xld10', customerNumber: '087800001230' };

  before(async () => {
    server = await startDigiflazzServer();
    connection = { sellerId: 's', baseUrl: server.url, username: server.username, secret: server.apiKey };
  });
  after(() => server.stop());
  afterEach(() => setClock(null));

  for (const [rc, name, status, bought, checked = bought] of table) {
    it(`rc ${rc} (${name}): ${bought.outcome ?? ''}`, async () => {
      const httpStatus = status === 'Gagal' ? 400 : 200;
      server.answerNextWith({ rc, status, httpStatus });
      expect(await adapter.buy(connection, orderOf(story))).to.deep.include({ code: rc, ...bought });
      server.answerNextWith({ rc, status });
      expect(await adapter.inquire(connection, orderOf(story)), 'status check').to.deep.include({
        code: rc,
        ...checked,
      });
    });
  }

  it('cover every code that the adapter knows, and no other', () => {
    expect(table.map(([rc]) => rc).sort()).to.deep.equal(Object.keys(rcMeanings).sort());
  });

  it('an unlisted code is unknown, whatever its status says', async () => {
    for (const rc of ['04', '46', '65', '100', 'toString']) {
      server.answerNextWith({ rc, status: 'Gagal' });
      expect(await adapter.buy(connection, orderOf(story)), rc).to.include({ outcome: 'unknown' });
    }
  });

  it('an rc that contradicts its status is unknown', async () => {
    for (const [rc, status] of [
      ['00', 'Gagal'],
      ['00', 'Pending'],
      ['02', 'Sukses'],
      ['54', 'Pending'],
      ['03', 'Sukses'],
    ]) {
      server.answerNextWith({ rc: rc ?? '', status: status ?? '' });
      expect(await adapter.buy(connection, orderOf(story)), `${rc} ${status}`).to.include({
        outcome: 'unknown',
      });
    }
  });

  it('passes max_price and reads cost, balance, stock and cut-off', async () => {
    const floats: number[] = [];
    const noting = createDigiflazzAdapter((_seller, amount) => floats.push(amount));
    expect(await noting.buy(connection, { ...orderOf(story), costMax: 10_500 })).to.include({ cost: 10_000 });
    expect(JSON.parse(server.calls.at(-1)?.raw ?? '')).to.include({ max_price: 10_500, testing: true });
    expect(floats).to.deep.equal([990_000]);
    const list = await noting.priceList(connection);
    expect(list.ok && list.value).to.deep.equal([
      { code: 'xld10', cost: 10_000, available: true, cutOff: { start: '23:45', end: '00:15' } },
      { code: 'xld25', cost: 24_750, available: true, cutOff: null },
      { code: 'gone', cost: 5_000, available: false, cutOff: null },
      { code: 'few', cost: 5_000, available: true, cutOff: null },
      { code: 'off', cost: 5_000, available: false, cutOff: null },
      { code: 'pln', adminFee: 2_500, cost: 1_500, available: true, cutOff: null },
    ]);
    expect(await noting.inquireMeter?.(connection, '1234554321')).to.deep.equal({
      outcome: 'meter',
      name: 'DAVID',
      power: 'R1 /000001300',
    });
    for (const [rc, outcome] of [
      ['54', 'wrong-number'],
      ['44', 'unavailable'],
      ['70', 'unavailable'],
    ]) {
      server.answerNextWith({ rc: rc ?? '' });
      expect(await noting.inquireMeter?.(connection, '1234554321'), rc).to.include({ outcome });
    }
  });

  it('reads a bill over two months and a ping; status checks are at least 60 s apart', async () => {
    const query = { providerRef: 'bill-1', productCode: 'pln', customerNumber: '530000000002' };
    expect(await adapter.inquireBill(connection, query)).to.deep.equal({
      outcome: 'bill',
      bill: {
        customerName: 'Nama Pelanggan Pertama',
        billPeriod: '2019-02',
        totalBill: 17_000,
        adminFee: 5_000,
        totalAmount: 22_000,
        details: {
          periods: ['2019-01', '2019-02'],
          tariff: 'R1',
          power: '1300',
          sheets: 2,
          penalty: 1_000,
          sheetDetails: [
            { period: '2019-01', amount: 8_000, penalty: 500 },
            { period: '2019-02', amount: 8_000, penalty: 500 },
          ],
        },
      },
    });
    expect(adapter.readCallback(Buffer.from('{"sed":"x","hook_id":"1","hook":{}}'))).to.deep.equal({
      kind: 'ping',
    });
    expect(adapter.readCallback(Buffer.from('{"anything":1}'))).to.equal(null);
    expect(server.tooSoon()).to.equal(0);
  });
});

/**
 * Each row: status, transaction_status, sn, outcome for an order, and the outcome for a status
 * check if that differs.
 */
const h2hTable: [string, string | undefined, string | null, Expected, Expected?][] = [
  ['00', 'success', 'SN', { outcome: 'success' }],
  ['00', 'success', null, { outcome: 'success' }],
  ['00', undefined, 'SN', { outcome: 'success' }],
  ['00', undefined, null, { outcome: 'pending' }],
  ['00', 'pending', null, { outcome: 'pending' }],
  ['00', 'failed', null, { outcome: 'unknown' }],
  ['01', 'failed', null, { outcome: 'refused', failover: 'yes', clientCode: '01' }],
  [
    '01',
    undefined,
    null,
    { outcome: 'refused', failover: 'yes', clientCode: '01' },
    { outcome: 'not-found' },
  ],
  ['01', 'success', 'SN', { outcome: 'unknown' }],
  [
    '02',
    undefined,
    null,
    { outcome: 'refused', failover: 'yes', clientCode: '02' },
    { outcome: 'not-found' },
  ],
  ['03', undefined, null, { ...nextSeller, fault: 'outage' }, { outcome: 'unknown' }],
  ['04', 'failed', null, wrongNumber],
  ['04', undefined, null, wrongNumber, { outcome: 'not-found' }],
  ['05', undefined, null, { outcome: 'pending' }],
  ['05', 'pending', null, { outcome: 'pending' }],
  ['05', 'success', 'SN', { outcome: 'unknown' }],
  ['06', undefined, null, nextSeller, { outcome: 'unknown' }],
  ['07', undefined, null, configurationFault, { outcome: 'unknown' }],
  ['08', undefined, null, { outcome: 'unknown' }],
  ['00', 'refunding', 'SN', { outcome: 'unknown' }],
];

describe('response codes of h2h', () => {
  let server: PlayServer;
  let answer: object;
  const adapter = createH2hAdapter('h2h');
  const story = { productCode: 'S10', customerNumber: '081234567890' };

  before(async () => {
    server = await startPlayServer((call, response) => {
      sendJson(response, 200, { ref_id: call.url.searchParams.get('ref_id'), message: 'said', ...answer });
    });
  });
  after(() => server.stop());

  it('passes max_price with an order and with its status check, which may buy', async () => {
    answer = { status: '00', sn: 'SN', transaction_status: 'success' };
    const connection = { sellerId: 's', baseUrl: server.url, username: 'us', secret: 'key' };
    const order = { ...orderOf(story), costMax: 10_500 };
    await adapter.buy(connection, order);
    await adapter.inquire(connection, order);
    const passed = server.calls.slice(-2).map(({ url }) => [url.pathname, url.searchParams.get('max_price')]);
    expect(passed).to.deep.equal([
      ['/request', '10500'],
      ['/request', '10500'],
    ]);
    // A bill is paid only at its exact amount.
    await adapter.payBill(connection, { ...order, billTotal: 77_500 });
    const { searchParams } = server.calls.at(-1)?.url ?? new URL(server.url);
    expect([searchParams.get('amount'), searchParams.get('max_price')]).to.deep.equal(['77500', null]);
  });

  for (const [status, state, sn, bought, checked = bought] of h2hTable) {
    it(`${status}, transaction_status ${state ?? 'absent'}, ${sn ? 'with' : 'without'} sn: ${bought.outcome ?? ''}`, async () => {
      answer = { status, sn, ...(state && { transaction_status: state }) };
      const connection = { sellerId: 's', baseUrl: server.url, username: 'us', secret: 'key' };
      expect(await adapter.buy(connection, orderOf(story))).to.deep.include(bought);
      expect(await adapter.inquire(connection, orderOf(story)), 'status check').to.deep.include(checked);
    });
  }
});
