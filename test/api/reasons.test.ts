import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createApp } from '../../src/app.js';
import { openApiDocument } from '../../src/api/openapi/document.js';
import { reasons, listReasons } from '../../src/api/contract/failure-reasons.js';
import type { Answer } from '../support/api-client.js';
import { readTableUnder } from '../support/docs-table.js';
import { fieldReasons, type FieldReason, failureReasons } from '../../src/shared/errors.js';
import { expectFailure } from './support/expect-answer.js';
import { useApi } from './support/api.js';
import { newProduct } from './support/catalogue.js';
import { hmacSign, pathOf } from './support/reseller.js';

describe('failure reason', () => {
  const api = useApi();

  it('is a machine-readable word, and 402 also has balance and price', async () => {
    const { _id: code } = await newProduct(api);
    const { key } = await api.newBuyer(1_000);
    const buy = (body: object) => api.call({ path: '/api/buyer/transaction', key, body });
    const order = { code, customer_number: '081234567890', ref_id: 'reason-1' };
    const poor = await buy(order);
    expectFailure(poor, { status: 402, code: '01', reason: 'insufficient_balance' });
    expect(poor.body.data_hint).to.have.all.keys('balance', 'price').and.to.include({ balance: 1_000 });
    expect(poor.body.data_hint.price).to.be.greaterThan(1_000);
    expectFailure(await buy({ ...order, code: 'NONE' }), {
      status: 404,
      code: '02',
      reason: 'product_not_found',
    });
    expectFailure(await buy({ ...order, ref_id: '' }), {
      status: 400,
      code: '01',
      reason: 'invalid_request',
    });
    const low = await buy({ ...order, max_price: 1 });
    expectFailure(low, { status: 409, code: '01', reason: 'price_above_max' });
    const deposit = (amount: number) =>
      api.call({ path: '/api/buyer/deposit', key, body: { amount, ref_id: 'reason-2' } });
    expect((await deposit(50_000)).status).to.equal(200);
    expectFailure(await deposit(60_000), { status: 409, code: '01', reason: 'ref_id_conflict' });
    const nobody = await api.call({ path: '/api/buyer/balance', method: 'POST' });
    expectFailure(nobody, { status: 401, code: '07', reason: 'credentials_missing' });
    const other = await api.call({ path: '/api/seller/balance', method: 'GET', key });
    expectFailure(other, { status: 403, code: '07', reason: 'wrong_role' });
  });

  it('is also returned by the reseller surface', async () => {
    const { _id: code } = await newProduct(api);
    const { account, key } = await api.newBuyer(1_000);
    const signing = { username: account.username, key };
    const query = { code, customer: '081234567890', ref_id: 'reason-3' };
    const call = (sign: string) =>
      api.call({
        method: 'GET',
        path: pathOf('request', { username: account.username, sign, ...query }),
      });
    const poor = await call(hmacSign(signing, Object.values(query).join('|')));
    expect(poor.body).to.include({ status: '01', reason: 'insufficient_balance' });
    expect((await call('0'.repeat(64))).body).to.include({ status: '07', reason: 'invalid_sign' });
  });

  it('dates have one clear message for any mistake', async () => {
    const { key } = await api.newBuyer(0);
    for (const wrong of ['', 'yesterday', '2024-02-30', 20240301, null, []]) {
      const answer = await api.call({ path: '/api/buyer/transactions', key, body: { start_date: wrong } });
      expectFailure(answer, {
        status: 400,
        code: '01',
        field: 'start_date',
        message: /^start_date must be a date/,
      });
    }
    const body = { start_date: '2020-01-01', end_date: '2024-01-01' };
    const long = await api.call({ path: '/api/buyer/transactions', key, body });
    expectFailure(long, { status: 400, code: '01', message: /^start_date must be at most 366 days before/ });
  });

  it('of a field is one of the list in docs/reference/field-reasons.md', async () => {
    const { key } = await api.newBuyer(0);
    const rows = readTableUnder('Fields', await readFile('docs/reference/field-reasons.md', 'utf8'));
    expect(rows).to.deep.equal(
      Object.entries(fieldReasons).map(([reason, meaning]) => [`\`${reason}\``, meaning]),
    );
    const post = (path: string, body: object) => api.call({ path: `/api/buyer/${path}`, key, body });
    const get = (path: string) => api.call({ path: `/api/buyer/${path}`, key });
    const wrong: [answer: Promise<Answer>, field: string, reason: FieldReason][] = [
      [post('transaction', { code: 'S10', ref_id: 'a' }), 'customer_number', 'missing'],
      [post('deposit', { amount: '50000', ref_id: 'a' }), 'amount', 'wrong_type'],
      [post('deposit', { amount: 50_000, ref_id: 'a b' }), 'ref_id', 'wrong_form'],
      [post('deposit', { amount: 50_000.5, ref_id: 'a' }), 'amount', 'wrong_form'],
      [post('deposit', { amount: 1, ref_id: 'a' }), 'amount', 'too_small'],
      [post('deposit', { amount: 2e12, ref_id: 'a' }), 'amount', 'too_large'],
      [post('deposit', { amount: 50_000, ref_id: 'x'.repeat(65) }), 'ref_id', 'too_long'],
      [post('transactions', { sn: '' }), 'sn', 'too_short'],
      [post('transactions', { status: 'lost' }), 'status', 'unknown_value'],
      [post('transactions', { tz: 'WIB' }), 'tz', 'wrong_form'],
      [
        post('transactions', { start_date: '2024-01-02', end_date: '2024-01-01' }),
        'end_date',
        'out_of_range',
      ],
      [
        post('transactions', { start_date: '2020-01-01', end_date: '2024-01-01' }),
        'start_date',
        'out_of_range',
      ],
      [post('transactions/lookup', { ref_ids: [] }), 'ref_ids', 'too_few'],
      [post('transactions/lookup', { ref_ids: Array(101).fill('a') }), 'ref_ids', 'too_many'],
      [post('transactions/lookup', { ref_ids: ['a b'] }), 'ref_ids.0', 'wrong_form'],
      [get('webhooks/deliveries?limit=0'), 'limit', 'too_small'],
      [get('webhooks/deliveries?limit=101'), 'limit', 'too_large'],
      [get('webhooks/deliveries?limit=x'), 'limit', 'wrong_form'],
      [get('webhooks/deliveries?limit=1&limit=1'), 'limit', 'given_twice'],
      [post('api/config', { webhook_url: 'https://127.0.0.1:81/x' }), 'webhook_url', 'not_accepted'],
      [post('api/config', { ip_whitelist: ['203.0.113.7'] }), 'ip_whitelist', 'not_accepted'],
    ];
    const seenReasons = new Set<string>();
    for (const [answer, field, reason] of wrong) {
      const { status, body } = await answer;
      const [first, ...more] = body.errors as Record<string, string>[];
      expect([status, first?.['field'], first?.['reason'], more], JSON.stringify(body)).to.deep.equal([
        400,
        field,
        reason,
        [],
      ]);
      seenReasons.add(reason);
    }
    expect([...seenReasons]).to.have.members(Object.keys(fieldReasons));
    const named = (openApiDocument().components.schemas as Record<string, { enum?: string[] }>)[
      'FieldReason'
    ];
    expect(named?.enum).to.deep.equal(Object.keys(fieldReasons));
  });

  it('a body above its limit gets a message with that limit', async () => {
    const server = createServer(createApp());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const send = async (path: string, type: string, body: string) => {
      const answer = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      return `${answer.status} ${await answer.text()}`;
    };
    const json = JSON.stringify({ text: 'x'.repeat(102_400) });
    expect(await send('/api/buyer/balance', 'application/json', json)).to.match(/^413 .*larger than 100 kB/);
    const form = `username=${'x'.repeat(10_000)}`;
    expect(await send('/admin/login', 'application/x-www-form-urlencoded', form)).to.match(
      /^413 [\s\S]*larger than 10 kB/,
    );
    server.close();
  });

  it('has a meaning in one table, and the document lists it by HTTP status', () => {
    expect(Object.keys(reasons)).to.have.members([...failureReasons]);
    const { schemas } = openApiDocument().components;
    expect(schemas['FailureReason']?.enum).to.deep.equal(
      failureReasons.filter((each) => each !== 'transaction_failed').sort((a, b) => order(a) - order(b)),
    );
    for (const status of [400, 401, 402, 403, 404, 405, 409, 413, 415, 422, 429, 503]) {
      expect(listReasons(status), String(status)).to.not.deep.equal([]);
    }
  });
});

function order(reason: string): number {
  return Object.keys(reasons).indexOf(reason);
}
