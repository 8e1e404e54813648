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
    answer = { title: '', outcome: '', body: { status: '00', ref_id: '<ref>', sn: 'CEK REPORT' } };
    const order = orderOf({ productCode: 'S10', customerNumber: '081234567890' });
    expect(await adapter.buy(connect(), order)).to.include({ outcome: 'success' });
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
