import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { sandboxScenarios } from '../../../config/sandbox-scenarios.js';
import { isScenarioOrder } from '../../../src/providers/guarded-adapter.js';
import { listScenarios } from '../../../src/api/sandbox/scenarios.js';
import { expectFailure, expectSuccess } from '../../api/support/expect-answer.js';
import { useApi } from '../../api/support/api.js';
import { newProduct } from '../../api/support/catalogue.js';
import { uniqueRef } from '../../support/api-client.js';
import { readTableUnder } from '../../support/docs-table.js';
import { startSimulator, type RunningSimulator } from '../../support/simulator.js';
import { useSettings } from '../../support/use-settings.js';
import { call } from '../../simulator/call-simulator.js';

describe('sandbox scenario numbers', () => {
  const api = useApi();
  let simulator: RunningSimulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.stop());

  it('match the table of docs/reference/api/sandbox.md, row by row', async () => {
    const { key } = await api.newAccount('buyer');
    const answer = await api.call({ method: 'GET', path: '/api/sandbox/scenarios', key });
    expectSuccess(answer, listScenarios);
    const listed = (answer.body.data as Record<string, string>[]).map(
      ({ ending, about, result, description }) => [`…${ending}`, about, `\`${result}\``, description],
    );
    expect(listed).to.deep.equal(
      readTableUnder('Scenarios', await readFile('docs/reference/api/sandbox.md', 'utf8')),
    );
    expect(listed).to.have.length(sandboxScenarios.length);
  });

  it('match the behaviour and the page of the simulator', async () => {
    const page = await (await fetch(simulator.url)).text();
    for (const { ending } of sandboxScenarios) {
      expect(page).to.include(`…${ending}`);
    }
    for (const { ending, about, result } of sandboxScenarios.filter(({ about }) => about === 'inquiry')) {
      const { status } = await call(simulator, '/inquiry', { customer: `53000000${ending}` });
      const expected = {
        bill: '00',
        bill_already_paid: '01',
        not_found: '02',
        invalid_customer_number: '04',
        biller_unavailable: '03',
      };
      expect([about, status]).to.deep.equal(['inquiry', expected[result as keyof typeof expected]]);
    }
  });

  it("do not count in the provider's statistics; other numbers do", () => {
    for (const { ending } of sandboxScenarios) {
      expect(isScenarioOrder('simulator', { customerNumber: `08123456${ending}` }), ending).to.equal(true);
      expect(isScenarioOrder('h2h', { customerNumber: `08123456${ending}` }), ending).to.equal(false);
    }
    expect(isScenarioOrder('simulator', { customerNumber: '081234567890' })).to.equal(false);
  });

  it('are shown only to buyers with a valid key', async () => {
    const seller = await api.newAccount('seller');
    const path = '/api/sandbox/scenarios';
    expectFailure(await api.call({ method: 'GET', path, key: seller.key }), {
      status: 403,
      code: '07',
      reason: 'wrong_role',
    });
    expectFailure(await api.call({ method: 'GET', path }), {
      status: 401,
      code: '07',
      reason: 'credentials_missing',
    });
  });
});

describe('sandbox calls on a live service', () => {
  const api = useApi();
  useSettings({ APP_MODE: 'live' });

  it('are refused with sandbox_only, except the ping', async () => {
    const buyer = await api.newAccount('buyer');
    const seller = await api.newAccount('seller');
    expect(buyer.key).to.match(/^bk_live_/);
    const refused = { status: 403, code: '07', reason: 'sandbox_only' } as const;
    const list = await api.call({ method: 'GET', path: '/api/sandbox/scenarios', key: buyer.key });
    expectFailure(list, refused);
    const end = { path: '/api/sandbox/transactions/order-1/end', body: { result: 'success' } };
    expectFailure(await api.call({ method: 'POST', ...end, key: buyer.key }), refused);
    const advanced = await api.call({ method: 'POST', path: '/api/sandbox/advance', key: buyer.key });
    expectFailure(advanced, refused);
    for (const [role, { key }, event] of [
      ['buyer', buyer, 'transaction.success'],
      ['seller', seller, 'settlement.completed'],
    ] as const) {
      for (const path of [`/api/${role}/webhooks/test`, `/api/${role}/webhooks/default/test`]) {
        expectFailure(await api.call({ method: 'POST', path, key, body: { event } }), refused);
      }
      const test = { method: 'POST' as const, path: `/api/${role}/webhooks/test`, key };
      const ping = await api.call({ ...test, body: { event: 'ping' } });
      expectFailure(ping, { status: 409, code: '01', reason: 'webhook_url_missing' });
    }
  });
});

describe('…1239, which simulates an outage of every provider', () => {
  const api = useApi();
  const order = (code: string, last = '1239') => ({
    path: '/api/buyer/transaction',
    body: { code, customer_number: `08123456${last}`, ref_id: uniqueRef() },
  });

  it('is refused like a product in maintenance, at no cost, for this number only', async () => {
    const { _id: code } = await newProduct(api);
    const { _id: away } = await newProduct(api, { status: 'maintenance' });
    const { key } = await api.newBuyer(10_500);
    const refused = await api.call({ ...order(code), key });
    expectFailure(refused, { status: 503, code: '03', reason: 'product_unavailable', retryAfterMaxS: 60 });
    // The row in the documentation states the value of Retry-After.
    const row = sandboxScenarios.find(({ ending }) => ending === '1239');
    expect(row?.description).to.include(`Retry-After: ${String(refused.headers['retry-after'])}`);
    // Nothing is scheduled, so this call makes nothing due.
    await api.call({ method: 'POST', path: '/api/sandbox/advance', key });
    expect((await api.call({ ...order(code), key })).status).to.equal(503);
    const { body } = await api.call({ ...order(away, '1230'), key });
    expect(refused.body.message).to.equal(String(body.message).replaceAll(away, code));
    expect((await api.call({ ...order(code, '1230'), key })).status).to.equal(200);
    const legacy = { code: 'GONE', customer_number: '081234561239', ref_id: uniqueRef() };
    const unknown = await api.call({ path: '/api/buyer/transaction', body: legacy, key });
    expectFailure(unknown, { status: 404, code: '02', reason: 'product_not_found' });
  });

  describe('on a live service', () => {
    useSettings({ APP_MODE: 'live' });

    it('is an ordinary number', async () => {
      const { _id: code } = await newProduct(api);
      const { key } = await api.newBuyer(10_500);
      expect((await api.call({ ...order(code), key })).status).to.equal(200);
    });
  });
});

describe('a live account on a service that became a sandbox', () => {
  const api = useApi();

  it('cannot make any call, because its key is refused', async () => {
    const { key } = await api.newAccount('buyer', { mode: 'live' });
    const answer = await api.call({ method: 'GET', path: '/api/sandbox/scenarios', key });
    expectFailure(answer, { status: 401, code: '07', reason: 'invalid_key' });
  });
});
