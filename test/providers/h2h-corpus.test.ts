/** Answers of reseller engines (test/providers/corpus/h2h) with the outcome of the order. */
import { expect } from 'chai';
import { createDigiflazzAdapter } from '../../src/providers/digiflazz.js';
import { guardAdapter } from '../../src/providers/guarded-adapter.js';
import { createH2hAdapter } from '../../src/providers/h2h.js';
import { useDatabase } from '../webhooks/support/database.js';
import { orderOf } from './conformance.js';
import { readH2hCorpus, type CorpusAnswer } from './h2h-corpus.js';
import { sendJson, startPlayServer, type PlayServer } from './play-server.js';

describe('answers of reseller engines', () => {
  useDatabase();
  let server: PlayServer;
  let answer: CorpusAnswer;
  const adapter = guardAdapter(createH2hAdapter('h2h'));
  const connect = (placeholders?: string[]) => ({
    sellerId: 'corpus',
    baseUrl: server.url,
    username: 'us',
    secret: 'key',
    ...(placeholders && { serialPlaceholders: placeholders }),
  });

  before(async () => {
    server = await startPlayServer((call, response) => {
      const refId = call.url.searchParams.get('ref_id') ?? '';
      const text = answer.text ?? JSON.stringify(answer.body);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(text.replace('<ref>', refId));
    });
  });
  after(() => server.stop());

  for (const each of readH2hCorpus()) {
    it(`${each.title}: ${each.outcome}`, async () => {
      answer = each;
      const order = orderOf({ productCode: 'S10', customerNumber: '081234567890' });
      const expected = {
        outcome: each.outcome,
        ...(each.serialNumber !== undefined && { serialNumber: each.serialNumber }),
        ...(each.outcome === 'pending' && { serialNumber: null }),
      };
      const connection = connect(['Cek report']);
      const bought = await adapter.buy(connection, order);
      expect(bought).to.include(expected);
      expect(bought).not.to.have.property('needsSerialNumber');
      expect(await adapter.inquire(connection, order), 'status check').to.include(expected);
      expect((await adapter.payBill(connection, { ...order, billTotal: 10_000 })).outcome).to.equal(
        each.outcome,
      );
    });
  }

  it("a provider's own placeholder is a serial number elsewhere", async () => {
    answer = { title: '', outcome: '', body: { status: '00', ref_id: '<ref>', sn: 'CEK REPORT 24' } };
    const order = orderOf({ productCode: 'S10', customerNumber: '081234567890' });
    expect(await adapter.buy(connect(['cek report 24']), order)).to.include({ outcome: 'pending' });
    expect(await adapter.buy(connect(), order)).to.include({ outcome: 'success' });
  });

  for (const [price, cost] of [
    [10_500, 10_500],
    ['10500', 10_500],
    [10_500.5, 10_501],
    [10.5, null],
    ['10.50', null],
    ['10.500', null],
    ['Rp 10.500', null],
    [undefined, null],
  ] as const) {
    it(`the price ${JSON.stringify(price)} is the cost ${cost ?? 'nobody knows'}`, async () => {
      answer = {
        title: '',
        outcome: '',
        body: { status: '00', transaction_status: 'success', sn: '1', price },
      };
      const order = orderOf({ productCode: 'S10', customerNumber: '081234567890' });
      expect(await adapter.buy(connect(), order)).to.include({ outcome: 'success', cost });
    });
  }
});

describe('amounts and callbacks of reseller engines', () => {
  useDatabase();
  const adapter = guardAdapter(createH2hAdapter('h2h'));

  async function read(body: object) {
    const server = await startPlayServer((_call, response) => sendJson(response, 200, body));
    const connection = { sellerId: 'amounts', baseUrl: server.url, username: 'us', secret: 'key' };
    const [balance, list] = [await adapter.balance(connection), await adapter.priceList(connection)];
    await server.stop();
    return { balance, list };
  }

  for (const [balance, expected] of [
    [500_000.75, 500_000],
    ['500000.75', 500_000],
    ['500000', 500_000],
    [-1_500, -1_500],
    ['500.000', null],
    ['500.000,00', null],
    ['', null],
    [true, null],
    [null, null],
    [1e300, null],
  ] as const) {
    it(`the balance ${JSON.stringify(balance)} is ${expected ?? 'refused'}`, async () => {
      const { balance: found } = await read({ status: '00', balance });
      expect(found.ok ? found.value : null).to.equal(expected);
    });
  }

  it('a price is a number or a text, and is rounded up; a row without one is counted', async () => {
    const prices = [10_000, '10000', 10_000.5, ' 10000.5 ', '10.000', -1, 10.5];
    const data = prices.map((price, at) => ({ code: ` c${at} `, price, status: 'active' }));
    const { list } = await read({ status: '00', data });
    expect(list).to.deep.include({ ok: true, unreadable: { rows: 3, codes: ['c4', 'c5', 'c6'] } });
    expect(list.ok && list.value.map(({ code, cost }) => [code, cost])).to.deep.equal([
      ['c0', 10_000],
      ['c1', 10_000],
      ['c2', 10_001],
      ['c3', 10_001],
    ]);
  });

  it('a callback that begins with a BOM is read', () => {
    const raw = Buffer.from('\ufeff{"ref_id":"a-1","status":"success"}');
    const expected = { kind: 'result', providerRef: 'a-1', status: 'success' };
    expect(adapter.readCallback(raw)).to.deep.equal(expected);
    const digiflazz = createDigiflazzAdapter(() => undefined);
    const theirs = Buffer.from('\ufeff{"data":{"ref_id":"a-1","status":"Sukses"}}');
    expect(digiflazz.readCallback(theirs)).to.deep.equal(expected);
  });
});

describe('serial numbers of Digiflazz', () => {
  useDatabase();
  const adapter = guardAdapter(createDigiflazzAdapter(() => undefined));

  for (const sn of ['-', ' ', '\u00a0', '0', 'null', 'Cek Report']) {
    it(`a success with ${JSON.stringify(sn)} stays a success, without one`, async () => {
      const server = await startPlayServer((call, response) => {
        const { ref_id } = JSON.parse(call.raw) as { ref_id: string };
        sendJson(response, 200, { data: { rc: '00', status: 'Sukses', message: '', ref_id, sn } });
      });
      const order = orderOf({ productCode: 'xld10', customerNumber: '087800001230' });
      const connection = { sellerId: 'd', baseUrl: server.url, username: 'us', secret: 'key' };
      const own = { ...connection, serialPlaceholders: ['CEK REPORT'] };
      expect(await adapter.buy(own, order)).to.include({ outcome: 'success', serialNumber: null });
      await server.stop();
    });
  }
});
