/** The main tasks of the service, from the deposit to the webhook, and its other uses of Redis. */
import { expect } from 'chai';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { hmacSign, requestPath } from '../api/support/reseller.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { consoleClient } from '../support/console-client.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import type { Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

/**
 * Expects that all main tasks work.
 * @param stack A stack with workers of every kind.
 */
export async function expectMainJob(stack: Stack): Promise<void> {
  const accounts = await stack.seed();
  const { username = '', api_key: key = '' } = accounts['buyer'] ?? {};
  const buyer = apiClient(stack.baseUrl, key);
  await deposit(buyer, 1_000_000);

  const order = { code: 'S10', customer_number: '081234561230', ref_id: uniqueRef() };
  const bought = await buyer.post('/api/buyer/transaction', order);
  expect(bought.status, JSON.stringify(bought.body)).to.equal(200);
  await eventually('the purchase succeeds', async () => {
    const { body } = await buyer.get(`/v1/transactions/${String(bought.body.data.transaction_id)}`);
    return body.data.status === 'SUCCESS';
  });
  await stack.inbox.waitFor((message) => JSON.stringify(message).includes(order.ref_id));

  const asked = { code: 'S10', customer: '081234561230', ref_id: uniqueRef() };
  const resold = await buyer.get(requestPath({ username, key }, asked));
  expect(resold.body, JSON.stringify(resold.body)).to.include({
    status: '00',
    transaction_status: 'success',
  });
  expect(hmacSign({ username, key }, 'depo')).to.be.a('string');

  const bill = await buyer.post('/api/buyer/inquiry', { code: 'PLNPOST', customer_number: '530000004321' });
  expect(bill.status, JSON.stringify(bill.body)).to.equal(200);
  const report = await buyer.post('/api/buyer/reports', { type: 'transaction' });
  expect(report.status, JSON.stringify(report.body)).to.equal(200);
  expect(report.body.data.summary.total_transactions).to.equal(2);

  await expectLimit(stack, accounts['buyer2']?.api_key ?? '');
  const browser = consoleClient(stack.baseUrl, '198.51.100.7');
  // Log in twice. A Cluster stores the keys of the two sessions on different nodes.
  await consoleClient(stack.baseUrl, '198.51.100.8').login('admin', accounts['admin']?.password ?? '');
  await browser.login('admin', accounts['admin']?.password ?? '');
  expect((await browser.get('/admin')).status, 'page of the console').to.equal(200);
  expect((await browser.get('/admin/api/me')).status, 'list of sessions').to.equal(200);
  expect((await browser.get('/admin/queues')).status, 'queue board').to.equal(200);

  const doctor = await topup(['doctor', '--json'], stack.env);
  const checks = doctor.json<{ checks: Diagnosis[] }>().checks;
  const bad = checks.filter(
    ({ name, status }) => status === 'fail' || (status === 'warn' && /Redis|queue/.test(name)),
  );
  expect(bad, 'failed checks of doctor').to.deep.equal([]);
  await expectLedgerToBalance(stack);
}

/** Expects that the rate limit is exact across two web processes. */
async function expectLimit(stack: Stack, key: string): Promise<void> {
  await stack.db.collection('accounts').updateOne({ username: 'buyer2' }, { $set: { rateLimit: 5 } });
  const second = await stack.startWeb();
  const clients = [apiClient(stack.baseUrl, key), apiClient(second.url, key)];
  const calls = [0, 1, 2, 3].flatMap(() => clients.map((client) => client.get('/v1/wallet/balance')));
  const statuses = (await Promise.all(calls)).map((answer) => answer.status);
  expect(statuses.filter((status) => status === 200)).to.have.length(5);
  await second.stop();
}
