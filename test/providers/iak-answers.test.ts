/** Answers of IAK that could cost money if they were believed. */
import { expect } from 'chai';
import type { ProviderConnection } from '../../src/providers/adapter.js';
import { createIakAdapter } from '../../src/providers/iak.js';
import { fromIakRef, toIakRef } from '../../src/providers/iak-call.js';
import { newId } from '../../src/shared/ids.js';
import { orderOf } from './conformance.js';
import { sendJson, startPlayServer, type PlayServer } from './play-server.js';

describe('an answer of IAK', () => {
  const noted: number[] = [];
  const adapter = createIakAdapter((_seller, amount) => noted.push(amount));
  const order = orderOf({ productCode: 'xld25000', customerNumber: '0817777215' });
  const bill = {
    ...orderOf({ productCode: 'PLNPOSTPAID', customerNumber: '530000000001' }),
    billTotal: 302_500,
  };
  const topUp = { rc: '00', status: 1, ref_id: toIakRef(order.providerRef), message: 'SUCCESS', sn: 'SN-1' };
  const inquiry = {
    ref_id: toIakRef(bill.providerRef),
    tr_id: 9732792,
    response_code: '00',
    message: 'INQUIRY SUCCESS',
    nominal: 300_000,
    admin: 2_500,
    price: 302_500,
    selling_price: 301_900,
  };
  const payment = {
    ...inquiry,
    message: 'PAYMENT SUCCESS',
    datetime: '20180803171844',
    balance: 997_586_108,
  };

  /** The answers to the calls of one test, by command or path. `data` goes under `data`. */
  let answers: Record<string, { data: object } | { status: number; text: string }>;
  let server: PlayServer;
  let connection: ProviderConnection;
  before(async () => {
    server = await startPlayServer((call, response) => {
      const { commands } = JSON.parse(call.raw) as { commands?: string };
      const answer = answers[commands ?? call.url.pathname] ?? answers['any'] ?? { status: 404, text: '' };
      if ('text' in answer) {
        response.writeHead(answer.status).end(answer.text);
      } else {
        sendJson(response, 200, answer);
      }
    });
    connection = { sellerId: 'seller', baseUrl: server.url, username: 'us', secret: 'key' };
  });
  after(() => server.stop());
  beforeEach(() => {
    answers = {};
    noted.length = 0;
  });
  const countCalls = (commands: string) => server.calls.filter(({ raw }) => raw.includes(commands)).length;

  it('about another product or customer decides nothing', async () => {
    for (const other of [
      { product_code: 'xld5000' },
      { customer_id: '0817777216' },
      { customer_id: 817_777_216 },
    ]) {
      for (const [rc, status] of [
        ['00', 1],
        ['07', 2],
      ]) {
        answers = { any: { data: { ...topUp, rc, status, ...other } } };
        const text = JSON.stringify(answers);
        expect(await adapter.buy(connection, order), text).to.include({ outcome: 'unknown' });
        expect(await adapter.inquire(connection, order), text).to.include({ outcome: 'unknown' });
      }
    }
    for (const own of [{ product_code: ' XLD25000', customer_id: '62817777215' }, { customer_id: '' }]) {
      answers = { any: { data: { ...topUp, ...own } } };
      expect(await adapter.inquire(connection, order), JSON.stringify(own)).to.include({
        outcome: 'success',
      });
    }
  });

  it('about another bill is not quoted, paid or believed', async () => {
    for (const other of [{ code: 'PLNNONH' }, { hp: '530000000002' }]) {
      answers = { any: { data: { ...payment, ...other, status: 1 } } };
      expect(await adapter.inquireBill(connection, bill)).to.include({ outcome: 'unavailable' });
      expect(await adapter.inquire(connection, bill)).to.include({ outcome: 'unknown' });
      const before = countCalls('pay-pasca');
      expect(await adapter.payBill(connection, bill)).to.include({ outcome: 'not-sent' });
      expect(countCalls('pay-pasca')).to.equal(before);
      answers = { 'inq-pasca': { data: inquiry }, 'pay-pasca': { data: { ...payment, ...other } } };
      expect(await adapter.payBill(connection, bill)).to.include({ outcome: 'unknown' });
    }
  });

  it('to an inquiry is not taken for a payment', async () => {
    answers = { 'inq-pasca': { data: inquiry }, 'pay-pasca': { data: inquiry } };
    expect(await adapter.payBill(connection, bill)).to.include({ outcome: 'unknown' });
    answers = { 'inq-pasca': { data: inquiry }, 'pay-pasca': { data: payment } };
    expect(await adapter.payBill(connection, bill)).to.include({ outcome: 'success' });
  });

  it('that refuses the inquiry of a payment refuses the order, as nothing was paid', async () => {
    const refuse = (response_code: string) => {
      answers = { 'inq-pasca': { data: { response_code, message: 'said' } } };
      return adapter.payBill(connection, bill);
    };
    expect(await refuse('106')).to.deep.include({ outcome: 'refused', failover: 'yes', clientCode: '03' });
    expect(await refuse('17')).to.deep.include({ outcome: 'refused', failover: 'yes', fault: 'float' });
    expect(await refuse('100')).to.deep.include({ outcome: 'refused', fault: 'configuration' });
    expect(await refuse('01')).to.deep.include({ outcome: 'refused', failover: 'no' });
    expect(await refuse('103')).to.deep.include({ outcome: 'not-sent' });
    expect(await refuse('92')).to.deep.include({ outcome: 'not-sent' });
    // IAK has the inquiry already, so another process may have paid it.
    expect(await refuse('11')).to.deep.include({ outcome: 'unknown' });
    expect(await refuse('42')).to.deep.include({ outcome: 'unknown' });
    expect(await refuse('02')).to.deep.include({ outcome: 'unknown' });
  });

  it('that an inquiry has expired does not refund a payment that was sent', async () => {
    answers = { any: { data: { ...payment, response_code: '04', status: 2 } } };
    expect(await adapter.inquire(connection, bill)).to.include({ outcome: 'unknown' });
  });

  it('that is an error page, empty, cut off or too large decides nothing', async () => {
    const whole = JSON.stringify({ data: { ...topUp, rc: '07', status: 2 } });
    for (const [status, text] of [
      [200, ''],
      [200, 'null'],
      [200, '<html>504 Gateway Time-out</html>'],
      [200, whole.slice(0, -2)],
      [200, JSON.stringify({ data: [] })],
      [200, JSON.stringify({ data: { ...topUp, message: 'x'.repeat(70_000) } })],
      [400, ''],
      [404, '<html>Not Found</html>'],
      [302, whole],
      [429, ''],
      [500, whole],
      [502, '<html>Bad Gateway</html>'],
      [503, ''],
    ] as const) {
      answers = { any: { status, text } };
      const name = `${status} ${text.slice(0, 40)}`;
      expect(await adapter.buy(connection, order), name).to.include({ outcome: 'unknown' });
      expect(await adapter.inquire(connection, order), name).to.include({ outcome: 'unknown' });
      expect(await adapter.inquire(connection, bill), name).to.include({ outcome: 'unknown' });
      answers = { 'inq-pasca': { data: inquiry }, 'pay-pasca': { status, text } };
      expect(await adapter.payBill(connection, bill), name).to.include({ outcome: 'unknown' });
    }
  });

  it('with a PIN keeps it, as the voucher is of no use without it', async () => {
    const sold = async (fields: object) => {
      answers = { any: { data: { ...topUp, ...fields } } };
      const outcome = await adapter.inquire(connection, order);
      return outcome.outcome === 'success' ? outcome.serialNumber : outcome.outcome;
    };
    expect(await sold({ sn: 'ABCD-EFGH', pin: '123456789' })).to.equal('ABCD-EFGH/123456789');
    expect(await sold({ sn: '-', pin: 123_456_789 })).to.equal('123456789');
    expect(await sold({ sn: 'ABCD-EFGH', pin: '-' })).to.equal('ABCD-EFGH');
    expect(await sold({ sn: 'ABCD-EFGH', pin: null })).to.equal('ABCD-EFGH');
    answers = { any: { status: 200, text: `{"data":${JSON.stringify(topUp).slice(0, -1)},"pin":0012345}}` } };
    expect(await adapter.inquire(connection, order)).to.include({
      outcome: 'success',
      serialNumber: 'SN-1/0012345',
    });
  });

  it('to a status check does not replace the balance, because its own may be old', async () => {
    answers = { any: { data: { ...topUp, balance: 1_000 } } };
    await adapter.inquire(connection, order);
    answers = { any: { data: { ...payment, status: 1, balance: 1_000 } } };
    await adapter.inquire(connection, bill);
    expect(noted).to.deep.equal([]);
    answers = { any: { data: { ...topUp, balance: '997061249.75' } } };
    await adapter.buy(connection, order);
    expect(noted).to.deep.equal([997_061_249]);
  });

  it('that refuses a balance says why', async () => {
    answers = { any: { data: { rc: '204', message: 'WRONG AUTHENTICATION', status: 2 } } };
    expect(await adapter.balance(connection)).to.deep.equal({
      ok: false,
      code: '204',
      message: 'WRONG AUTHENTICATION',
    });
    for (const balance of ['1.000.000', null, [], undefined]) {
      answers = { any: { data: { rc: '00', balance } } };
      expect(await adapter.balance(connection), String(balance)).to.include({
        ok: false,
        code: 'UNREADABLE',
      });
    }
  });

  it('about another meter names no owner', async () => {
    const meter = { rc: '00', status: '1', name: 'DAVID', segment_power: 'R1' };
    const ask = async (stated: object) => {
      answers = { any: { data: { ...meter, ...stated } } };
      return (await adapter.inquireMeter?.(connection, '12345678901'))?.outcome;
    };
    expect(await ask({ customer_id: '12345678902', meter_no: '548933889287' })).to.equal('unavailable');
    expect(await ask({ customer_id: '12345678901', meter_no: '548933889287' })).to.equal('meter');
    expect(await ask({ customer_id: '523300817840', meter_no: '12345678901' })).to.equal('meter');
    expect(await ask({})).to.equal('meter');
  });

  it('with amounts as text or with fractions is read; one that cannot be read is not paid', async () => {
    const quote = async (fields: object) => {
      answers = { any: { data: { ...inquiry, ...fields } } };
      const found = await adapter.inquireBill(connection, bill);
      return found.outcome === 'bill' ? found.bill.totalAmount : found.code;
    };
    expect(await quote({ price: '302500', admin: '2500.00', selling_price: '301900' })).to.equal(302_500);
    expect(await quote({ price: 302_500.4 })).to.equal(302_501);
    for (const odd of ['302.500', '302,500', '', null, -1, 'Rp 302500', undefined, 0]) {
      expect(await quote({ price: odd }), `price ${odd}`).to.equal('BILL_AMOUNT');
    }
    for (const odd of ['301.900', '', null, -1, undefined]) {
      expect(await quote({ selling_price: odd }), `selling_price ${odd}`).to.equal('BILL_AMOUNT');
      const before = countCalls('pay-pasca');
      expect(await adapter.payBill(connection, bill)).to.include({ outcome: 'refused', failover: 'no' });
      expect(countCalls('pay-pasca')).to.equal(before);
    }
    expect(await quote({ tr_id: 'A-1' })).to.equal('BILL_AMOUNT');
  });

  it('with a price list has no free products, and no list at all if it is an error', async () => {
    const row = { product_code: 'a', product_price: 1_000, status: 'active' };
    const read = (prepaid: unknown) => {
      answers = { '/api/pricelist': { data: prepaid as object }, 'pricelist-pasca': { data: { pasca: [] } } };
      return adapter.priceList(connection);
    };
    const rows = [row, { ...row, product_code: 'b', product_price: 0 }, { ...row, product_code: 'c' }];
    const found = await read({ pricelist: rows, rc: '00' });
    expect(found.ok && found.value.map(({ code }) => code)).to.deep.equal(['a', 'c']);
    expect(found).to.deep.include({ unreadable: { rows: 1, codes: ['b'] } });
    for (const odd of [{ rc: '204', message: 'WRONG AUTHENTICATION' }, null, 'text', {}, { pricelist: {} }]) {
      expect(await read(odd), JSON.stringify(odd)).to.include({ ok: false });
    }
  });

  it('names our reference in its own form, which stands for one order only', () => {
    const references = Array.from({ length: 500 }, (_, n) => `${newId()}-${1 + (n % 120)}`);
    const theirs = references.map((each) => toIakRef(each));
    expect(new Set(theirs).size).to.equal(references.length);
    expect(theirs.every((each) => /^[a-z0-9]+$/.test(each))).to.equal(true);
    expect(theirs.map((each) => fromIakRef(each))).to.deep.equal(references);
    // An operator may have put the dash back by hand.
    expect(references.map((each) => fromIakRef(each))).to.deep.equal(references);
    for (const other of ['order001', 'x1', '12x3', `${newId()}x`, `${newId()}xx1`, `0${newId()}x1`]) {
      expect(fromIakRef(other), other).to.equal(other);
    }
  });
});
