/** Every response code of both APIs of IAK, sent by a real HTTP server. */
import { expect } from 'chai';
import type { ProviderConnection, ProviderOutcome } from '../../src/providers/adapter.js';
import { createIakAdapter } from '../../src/providers/iak.js';
import { toIakRef } from '../../src/providers/iak-call.js';
import { postpaidMeanings, prepaidMeanings } from '../../src/providers/iak-response-codes.js';
import { orderOf } from './conformance.js';
import { sendJson, startPlayServer, type PlayServer } from './play-server.js';

type Expected = Partial<Extract<ProviderOutcome, { outcome: 'refused' }>> | { outcome: string };

const unknown: Expected = { outcome: 'unknown' };
const notFound: Expected = { outcome: 'not-found' };
const wrongNumber: Expected = { outcome: 'refused', failover: 'no', clientCode: '04' };
const blocked: Expected = { outcome: 'refused', failover: 'yes', clientCode: '04' };
const mistake: Expected = { outcome: 'refused', failover: 'no', clientCode: '01' };
const failed: Expected = { outcome: 'refused', failover: 'yes', clientCode: '01' };
const notSold: Expected = { outcome: 'refused', failover: 'yes', clientCode: '02' };
const nextSeller: Expected = { outcome: 'refused', failover: 'yes', clientCode: '03' };
const confirm: Expected = { outcome: 'refused', failover: 'confirm', clientCode: '03' };
const maybePaid: Expected = { outcome: 'refused', failover: 'confirm', clientCode: '01' };
const settings: Expected = { ...nextSeller, fault: 'configuration' };
const float: Expected = { ...nextSeller, fault: 'float' };
const outage: Expected = { ...nextSeller, fault: 'outage' };

/**
 * Each row: code, documented meaning, status, outcome for the order or payment, and the outcome for a
 * status check if that differs.
 */
type Row = [string, string, number, Expected, Expected?];

const prepaidTable: Row[] = [
  ['00', 'success', 1, { outcome: 'success' }],
  ['06', 'transaction not found', 2, unknown, notFound],
  ['07', 'failed', 2, failed],
  ['10', 'limit of the number for a day', 2, nextSeller],
  ['12', 'maximum balance exceeded', 2, failed],
  ['13', 'number blocked', 2, blocked],
  ['14', 'wrong number', 2, wrongNumber],
  ['16', 'number of another operator', 2, wrongNumber],
  ['17', 'our balance is too low', 2, float],
  ['18', 'eSIM number not available', 2, failed],
  ['19', 'eSIM number in use', 2, failed],
  ['20', 'product not found', 2, notSold],
  ['39', 'in process', 0, { outcome: 'pending' }],
  ['102', 'our address is not allowed', 2, settings, unknown],
  ['106', 'product out of service', 2, nextSeller],
  ['107', 'format of the request', 2, settings, unknown],
  ['110', 'maintenance', 2, outage, unknown],
  ['117', 'page not found', 2, settings, unknown],
  ['118', 'account suspended', 2, settings, unknown],
  ['121', 'monthly limit', 2, failed],
  ['131', 'region blocked', 2, wrongNumber],
  ['141', 'wrong user, zone or server', 2, wrongNumber],
  ['142', 'wrong user', 2, wrongNumber],
  ['201', 'undefined', 0, unknown],
  ['202', 'one order for a number in a day', 2, nextSeller],
  ['203', 'number too long', 2, wrongNumber],
  ['204', 'wrong signature', 2, settings, unknown],
  ['205', 'wrong command', 2, settings, unknown],
  ['206', 'number blocked by our settings', 2, blocked],
  ['207', 'one order for a number in a day, any product', 2, nextSeller],
];

const postpaidTable: Row[] = [
  ['00', 'success', 1, { outcome: 'success' }],
  ['01', 'already paid', 2, maybePaid, mistake],
  ['02', 'unpaid, only inquired', 0, unknown, notFound],
  ['03', 'our reference is not valid', 2, settings, unknown],
  ['04', 'inquiry expired', 2, nextSeller, unknown],
  ['05', 'undefined error', 3, unknown],
  ['06', 'inquiry not found', 2, unknown, notFound],
  ['07', 'failed', 2, failed],
  ['08', 'customer blocked by IAK', 2, blocked],
  ['09', 'inquiry failed', 2, nextSeller],
  ['10', 'no bill yet', 2, { outcome: 'refused', failover: 'no', clientCode: '02' }],
  ['11', 'our reference was used before', 2, unknown],
  ['13', 'number blocked', 2, blocked],
  ['14', 'wrong number', 2, wrongNumber],
  ['15', 'number not supported', 2, wrongNumber],
  ['16', 'number of another operator', 2, wrongNumber],
  ['17', 'our balance is too low', 2, float],
  ['20', 'product not found', 2, notSold],
  ['30', 'to be paid at the counter', 2, mistake],
  ['31', 'above the maximum', 2, failed],
  ['32', 'all periods must be paid', 2, mistake],
  ['33', 'try again later', 2, nextSeller],
  ['34', 'already paid', 2, maybePaid, mistake],
  ['35', 'another arrear', 2, mistake],
  ['36', 'past its due date', 2, mistake],
  ['37', 'payment failed', 2, failed],
  ['38', 'payment failed, make another request', 2, failed],
  ['39', 'in process', 3, { outcome: 'pending' }],
  ['40', 'one or all already paid', 2, maybePaid, mistake],
  ['41', 'to be paid to the company', 2, mistake],
  ['42', 'payment not received', 0, unknown, notFound],
  ['91', 'database error', 2, confirm, nextSeller],
  ['92', 'general error', 2, unknown],
  ['93', 'amount not valid', 2, mistake],
  ['94', 'service has expired', 2, nextSeller],
  ['100', 'wrong signature', 2, settings, unknown],
  ['101', 'wrong command', 2, settings, unknown],
  ['102', 'our address is not allowed', 2, settings, unknown],
  ['103', 'timeout', 2, confirm, nextSeller],
  ['105', 'error of the biller', 2, confirm, nextSeller],
  ['106', 'product out of service', 2, nextSeller],
  ['107', 'format of the request', 2, settings, unknown],
  ['108', 'number not usable for the product', 2, wrongNumber],
  ['109', 'cut-off', 2, nextSeller],
  ['110', 'maintenance', 2, outage, unknown],
  ['117', 'page not found', 2, settings, unknown],
  ['118', 'account suspended', 2, settings, unknown],
  ['201', 'undefined', 3, unknown],
];

describe('response codes of IAK', () => {
  const adapter = createIakAdapter(() => undefined);
  const order = orderOf({ productCode: 'xld25000', customerNumber: '0817777215' });
  const bill = {
    ...orderOf({ productCode: 'PLNPOSTPAID', customerNumber: '530000000001' }),
    billTotal: 302_500,
  };
  const payment = {
    ref_id: toIakRef(bill.providerRef),
    tr_id: 9_732_792,
    price: 302_500,
    admin: 2_500,
    selling_price: 301_900,
    datetime: '20180803171844',
  };
  let answer: object;
  let server: PlayServer;
  let connection: ProviderConnection;
  before(async () => {
    server = await startPlayServer((call, response) => {
      const isInquiry = call.raw.includes('inq-pasca');
      sendJson(response, 200, { data: isInquiry ? { ...payment, response_code: '00' } : answer });
    });
    connection = { sellerId: 's', baseUrl: server.url, username: 'us', secret: 'key' };
  });
  after(() => server.stop());

  for (const [rc, name, status, bought, checked = bought] of prepaidTable) {
    it(`prepaid ${rc} (${name}): ${bought.outcome ?? ''}`, async () => {
      answer = { rc, status, ref_id: toIakRef(order.providerRef), message: 'said' };
      expect(await adapter.buy(connection, order)).to.deep.include({ code: rc, ...bought });
      expect(await adapter.inquire(connection, order), 'check').to.deep.include({ code: rc, ...checked });
    });
  }

  for (const [code, name, status, paid, checked = paid] of postpaidTable) {
    it(`postpaid ${code} (${name}): ${paid.outcome ?? ''}`, async () => {
      answer = { ...payment, response_code: code, message: 'said' };
      expect(await adapter.payBill(connection, bill)).to.deep.include({ code, ...paid });
      answer = { ...answer, status };
      expect(await adapter.inquire(connection, bill), 'check').to.deep.include({ code, ...checked });
    });
  }

  it('cover every code that the adapter knows, and no other', () => {
    const listed = (table: Row[]) => table.map(([code]) => code).sort();
    expect(listed(prepaidTable)).to.deep.equal(Object.keys(prepaidMeanings).sort());
    expect(listed(postpaidTable)).to.deep.equal(Object.keys(postpaidMeanings).sort());
  });

  it('an unlisted code is unknown, whatever its status says', async () => {
    for (const code of ['0', '000', '43', '143', '999', 'toString', '']) {
      for (const status of [0, 1, 2, 3]) {
        answer = { ...payment, rc: code, response_code: code, status, ref_id: toIakRef(order.providerRef) };
        expect(await adapter.buy(connection, order), code).to.include({ outcome: 'unknown' });
        expect(await adapter.inquire(connection, order), code).to.include({ outcome: 'unknown' });
        answer = { ...answer, ref_id: payment.ref_id };
        expect(await adapter.inquire(connection, bill), code).to.include({ outcome: 'unknown' });
      }
    }
  });

  it('a refusal in a status check without our reference or status is unknown', async () => {
    for (const data of [
      { rc: '07', response_code: '37', status: 2 },
      { rc: '07', response_code: '37' },
    ]) {
      answer = data;
      expect(await adapter.inquire(connection, order)).to.include({ outcome: 'unknown' });
      expect(await adapter.inquire(connection, bill)).to.include({ outcome: 'unknown' });
    }
  });
});
