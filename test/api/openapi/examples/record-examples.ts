import { formatBusinessDay } from '../../../../src/shared/business-time.js';
import { eventually } from '../../../support/eventually.js';
import type { Stack } from '../../../support/stack.js';
import { topup } from '../../../support/topup.js';
import { hmacSign, pathOf, requestPath, type Signing } from '../../support/reseller.js';
import type { RecordedExamples } from '../../../../src/api/openapi/examples.js';
import { listSettlements, playFilteredLists } from './play-filtered-lists.js';
import { playDisabledEndpoint, playEndpoints } from './play-endpoints.js';
import { playSandbox } from './play-sandbox.js';
import { readRequests, readStatement } from './read-account.js';
import { createRecorder, redactExamples, type Recorder } from './recorder.js';

interface RecordingContext {
  stack: Stack;
  recorder: Recorder;
  buyerKey: string;
  sellerKey: string;
}

interface Row {
  id: string;
  ref_id: string;
}

const number = (ending: string) => `08123456${ending}`;
const bankAccount = { bank_code: '014', account_number: '1234567890', account_name: 'PT Pulsa Jaya' };

/** Makes the calls of an integrator's first day. Every operation gets a meaningful example. */
export async function recordExamples(stack: Stack): Promise<RecordedExamples> {
  const accounts = await stack.seed();
  const recorder = createRecorder(stack.baseUrl);
  const cast: RecordingContext = {
    stack,
    recorder,
    buyerKey: accounts['buyer']?.api_key ?? '',
    // The key of the seller with the lowest price for S10.
    sellerKey: accounts['seller2']?.api_key ?? '',
  };
  await configure(cast);
  await depositAndBuy(cast);
  await payBill(cast);
  await playSandbox(recorder, cast.buyerKey);
  await useResellerSoftware(cast, accounts['buyer']?.username ?? '');
  await sell(cast);
  await settle(cast);
  await listSettlements(cast.recorder, cast.sellerKey);
  for (const [role, key] of sidesOf(cast)) {
    await readStatement(recorder, { role, key });
    await readRequests(recorder, { role, key });
  }
  await readReports(cast);
  await manageWebhooks(cast);
  await makeMistakes(cast);
  await rotateSecrets(cast);
  const goneUrl = await playDisabledEndpoint(stack, { recorder, key: cast.buyerKey });
  await keepWebhooks(cast);
  return redactExamples(recorder.recorded(), {
    [stack.baseUrl]: 'https://topup.example',
    [`${stack.inbox.url}/hooks`]: 'https://shop.example/hooks',
    [goneUrl]: 'https://books.example',
  });
}

/** Returns the path prefix and key of both roles, which have the same calls. */
function sidesOf({ buyerKey, sellerKey }: RecordingContext) {
  return [
    ['buyer', buyerKey],
    ['seller', sellerKey],
  ] as const;
}

async function configure(cast: RecordingContext): Promise<void> {
  const { recorder, stack } = cast;
  for (const [role, key] of sidesOf(cast)) {
    const path = `/api/${role}/api/config`;
    const body = {
      webhook_url: `${stack.inbox.url}/hooks/${role}`,
      callback_url: `${stack.inbox.url}/hooks/${role}-callback`,
      ip_whitelist: ['127.0.0.1', '203.0.113.0/24'],
      rate_limit: 600,
    };
    await recorder.play('changed', { method: 'POST', path, key, body });
    await recorder.play('current', { method: 'GET', path, key });
  }
}

async function depositAndBuy({ recorder, stack, buyerKey: key }: RecordingContext): Promise<void> {
  const deposit = { amount: 1_000_000, ref_id: 'deposit-20240301-0001' };
  const depositing = { method: 'POST' as const, path: '/api/buyer/deposit', key, body: deposit };
  await recorder.play('completed', depositing);
  const waiting = { amount: 250_000, ref_id: 'deposit-20240301-0002' };
  const confirming = await stack.startWeb({ DEPOSIT_MODE: 'confirm' });
  await recorder.play('pending', { ...depositing, body: waiting, baseUrl: confirming.url });
  const listed = await topup(['deposit', 'list', '--json'], stack.env);
  const [found] = listed.json<Row[]>().filter((each) => each.ref_id === waiting.ref_id);
  await operate(stack, ['deposit', 'confirm', found?.id ?? ''], 'On the bank statement of today');
  await recorder.play('balance', { method: 'POST', path: '/api/buyer/balance', key, body: {} });
  await recorder.play('balance', { method: 'GET', path: '/v1/wallet/balance', key });
  await recorder.play('token', { method: 'POST', path: '/v1/auth/login', key });
  await recorder.play('pln', {
    method: 'POST',
    path: '/api/buyer/price-list',
    key,
    body: { category: 'pln', operator: 'PLN' },
  });
  await recorder.play('pln', { method: 'GET', path: '/v1/products?category=pln', key });

  const buy = (code: string, ending: string, ref: string) => ({
    method: 'POST' as const,
    path: '/api/buyer/transaction',
    key,
    body: { code, customer_number: number(ending), ref_id: ref },
  });
  await recorder.play('accepted', buy('S10', '1230', 'order-20240301-0001'));
  await waitUntilFinal({ recorder, key }, 'success', 'order-20240301-0001');
  await recorder.play('repeated, success', buy('S10', '1230', 'order-20240301-0001'));
  await recorder.play('accepted', buy('S10', '1232', 'order-20240301-0002'));
  await waitUntilFinal({ recorder, key }, 'failed', 'order-20240301-0002');
  await recorder.play('repeated, failed', buy('S10', '1232', 'order-20240301-0002'));

  const meter = { code: 'PLN20', customer_number: '12345678901' };
  await recorder.play('meter', { method: 'POST', path: '/api/buyer/inquiry', key, body: meter });
  const wallet = {
    product_code: 'PLN20',
    destination: '12345678901',
    ref_id: 'order-20240301-0003',
  };
  const path = '/v1/transactions';
  const created = await recorder.play('accepted', { method: 'POST', path, key, body: wallet });
  const id = String(created.body.data.id);
  await eventually('the token is delivered', async () => {
    const { body } = await recorder.play('success', { method: 'GET', path: `${path}/${id}`, key });
    return body.data.status === 'SUCCESS';
  });
  await recorder.play('repeated, success', { method: 'POST', path, key, body: wallet });
  await recorder.play('first page', {
    method: 'POST',
    path: '/api/buyer/transactions',
    key,
    body: { page: 1, limit: 2 },
  });
  await playFilteredLists(recorder, key, waiting.ref_id);
  await recorder.play('one known, one not', {
    method: 'POST',
    path: '/api/buyer/transactions/lookup',
    key,
    body: { ref_ids: ['order-20240301-0001', 'order-20240301-0009'] },
  });
}

/**
 * Polls until the transaction has this status. Each poll overwrites the example, so the last
 * response is the recorded one.
 */
async function waitUntilFinal(
  { recorder, key }: { recorder: Recorder; key: string },
  status: string,
  ref: string,
): Promise<void> {
  await eventually(`${ref} is final`, async () => {
    const { body } = await recorder.play(status, {
      method: 'GET',
      path: `/api/buyer/transactions/${ref}`,
      key,
    });
    return body.data.status === status;
  });
}

async function payBill({ recorder, buyerKey: key }: RecordingContext): Promise<void> {
  const bill = { code: 'PLNPOST', customer_number: '530000001230' };
  await recorder.play('bill', { method: 'POST', path: '/api/buyer/inquiry', key, body: bill });
  const payment = { ...bill, ref_id: 'bill-20240301-0001' };
  await recorder.play('accepted', { method: 'POST', path: '/api/buyer/payment', key, body: payment });
  await waitUntilFinal({ recorder, key }, 'success', payment.ref_id);
  await recorder.play('repeated, success', {
    method: 'POST',
    path: '/api/buyer/payment',
    key,
    body: payment,
  });
}

async function useResellerSoftware(
  { recorder, buyerKey: key }: RecordingContext,
  username: string,
): Promise<void> {
  const signing: Signing = { username, key };
  const signed = (covers: string) => ({ username, sign: hmacSign(signing, covers) });
  const request = (code: string, ending: string, ref: string) => ({
    method: 'GET' as const,
    path: requestPath(signing, { code, customer: number(ending), ref_id: ref }),
  });
  await recorder.play('success', request('S10', '1230', 'reseller-0001'));
  await recorder.play('failed', request('S10', '1232', 'reseller-0002'));
  await recorder.play('unknown product', request('S11', '1230', 'reseller-0003'));
  await recorder.play('wrong number', request('S10', '1', 'reseller-0004'));
  await recorder.play('wrong sign', {
    method: 'GET',
    path: pathOf('balance', { username, sign: hmacSign(signing, 'other') }),
  });
  await recorder.play('balance', { method: 'GET', path: pathOf('balance', signed('depo')) });
  await recorder.play('pln', {
    method: 'GET',
    path: pathOf('price-list', { ...signed('pricelist'), category: 'pln' }),
  });
}

async function sell({ recorder, sellerKey: key }: RecordingContext): Promise<void> {
  const path = '/api/seller/products';
  const product = {
    code: 'GAME50',
    name: 'Game voucher 50.000',
    category: 'prabayar',
    subcategory: 'game',
    operator: 'Game',
    price: 48_500,
    status: 'active',
  };
  await recorder.play('created', { method: 'POST', path, key, body: product });
  await recorder.play('repeated', { method: 'POST', path, key, body: product });
  await recorder.play('changed', { method: 'PUT', path: `${path}/GAME50`, key, body: { price: 49_000 } });
  await recorder.play('offered', {
    method: 'POST',
    path: `${path}/SM10/offers`,
    key,
    body: { price: 10_300, status: 'active' },
  });
  await recorder.play('products', { method: 'GET', path, key });
  await eventually("the seller's balance has the sales", async () => {
    const { body } = await recorder.play('balance', { method: 'GET', path: '/api/seller/balance', key });
    return body.data.balance > 0;
  });
  await recorder.play('first page', {
    method: 'POST',
    path: '/api/seller/transactions',
    key,
    body: { page: 1, limit: 2 },
  });
}

async function settle({ recorder, stack, buyerKey, sellerKey: key }: RecordingContext): Promise<void> {
  await recorder.play('accepted', {
    method: 'POST',
    path: '/api/buyer/transaction',
    key: buyerKey,
    body: { code: 'S100', customer_number: number('1230'), ref_id: 'order-20240301-0004' },
  });
  await waitUntilFinal({ recorder, key: buyerKey }, 'success', 'order-20240301-0004');
  await eventually('the balance covers the settlement', async () => {
    const { body } = await recorder.play('balance', { method: 'GET', path: '/api/seller/balance', key });
    return body.data.balance >= 60_000;
  });
  const request = (ref: string) => ({
    method: 'POST' as const,
    path: '/api/seller/settlement/request',
    key,
    body: { amount: 60_000, bank_account: bankAccount, ref_id: ref },
  });
  const failing = await recorder.play('accepted', request('payout-20240301-0001'));
  const failingId = String(failing.body.data.settlement_id);
  await operate(stack, ['settlement', 'fail', failingId], 'The account name is another');
  const status = (id: string, name: string) =>
    recorder.play(name, { method: 'GET', path: `/api/seller/settlements/${id}`, key });
  await status(failingId, 'failed');
  const going = await recorder.play('accepted', request('payout-20240301-0002'));
  const goingId = String(going.body.data.settlement_id);
  await operate(stack, ['settlement', 'approve', goingId], 'The account name is the seller');
  await eventually(
    'the settlement is completed',
    async () => (await status(goingId, 'completed')).body.data.status === 'completed',
  );
}

async function operate(stack: Stack, command: string[], reason: string): Promise<void> {
  const { code, stderr } = await topup([...command, '--reason', reason], stack.env);
  if (code !== 0) {
    throw new Error(stderr);
  }
}

async function readReports(cast: RecordingContext): Promise<void> {
  const { recorder, stack } = cast;
  const today = formatBusinessDay(new Date());
  const sides = sidesOf(cast).map(([role, key]) => [`/api/${role}/reports`, key] as const);
  const body = { type: 'transaction', format: 'json', start_date: today, end_date: today };
  // No report worker runs yet, so the reports stay pending.
  const impatient = await stack.startWeb({ REPORT_SYNC_WAIT_MS: '1' });
  for (const [path, key] of sides) {
    const asked = await recorder.play('under way', {
      method: 'POST',
      path,
      key,
      body: { ...body, type: path.includes('buyer') ? 'deposit' : 'product' },
      baseUrl: impatient.url,
    });
    const id = String(asked.body.data.report_id);
    await recorder.play('under way', { method: 'GET', path: `${path}/${id}`, key });
  }
  await stack.startWorker('reports');
  for (const [path, key] of sides) {
    const made = await recorder.play('ready', { method: 'POST', path, key, body });
    const id = String(made.body.data.report_id);
    await recorder.play('ready', { method: 'GET', path: `${path}/${id}`, key });
    await recorder.play('all rows', { method: 'GET', path: `${path}/${id}/download`, key });
    const csv = { ...body, format: 'csv' };
    const local = { ...body, tz: 'Asia/Jakarta' };
    await recorder.play('times in a zone', { method: 'POST', path, key, body: local });
    await recorder.play('with Accept: text/csv', {
      method: 'POST',
      path,
      key,
      body: csv,
      headers: { accept: 'text/csv' },
    });
    const linked = await recorder.play('csv', { method: 'POST', path, key, body: csv });
    const csvId = String(linked.body.data.report_id);
    await recorder.play('all rows', { method: 'GET', path: `${path}/${csvId}/download`, key });
    await recorder.play('revoked', { method: 'POST', path: `${path}/${csvId}/links/revoke`, key });
    await recorder.play('revoked', { method: 'POST', path: `${path}/links/revoke`, key });
  }
}

async function manageWebhooks(cast: RecordingContext): Promise<void> {
  const { recorder } = cast;
  for (const [role, key] of sidesOf(cast)) {
    const path = `/api/${role}/webhooks`;
    const event = role === 'buyer' ? 'transaction.success' : 'settlement.completed';
    await recorder.play('answered', { method: 'POST', path: `${path}/test`, key, body: { event } });
    await recorder.play('enabled', { method: 'POST', path: `${path}/enable`, key });
    await playEndpoints(cast, { role, key });
    const delivered = await eventually('a delivery succeeds', async () => {
      const { body } = await recorder.play('delivered', {
        method: 'GET',
        path: `${path}/deliveries?status=delivered&endpoint_id=default&limit=1`,
        key,
      });
      return (body.data.deliveries[0]?.id ?? null) as string | null;
    });
    await recorder.play('sent again', {
      method: 'POST',
      path: `${path}/deliveries/${delivered}/replay`,
      key,
    });
    await recorder.play('sent again', {
      method: 'POST',
      path: `${path}/replay`,
      key,
      body: { since: new Date(Date.now() - 3_600_000).toISOString(), status: 'dead' },
    });
  }
}

async function makeMistakes({ recorder, buyerKey: key, sellerKey }: RecordingContext): Promise<void> {
  const path = '/api/buyer/transaction';
  const good = { code: 'S10', customer_number: number('1230'), ref_id: 'order-20240301-0005' };
  const buy = (name: string, over: object) =>
    recorder.play(name, { method: 'POST', path, key, body: { ...good, ...over } });
  await buy('fields', { customer_number: 81_234_561_230, ref_id: 'a b' });
  await buy('balance', { code: 'S1000', ref_id: 'order-20240301-0006' });
  await buy('product', { code: 'S11' });
  await buy('number', { customer_number: '089512345678' });
  await buy('ref_id used before', { ref_id: 'order-20240301-0001', code: 'S20' });
  await buy('too large', { note: 'x'.repeat(110_000) });
  await recorder.play('no key', { method: 'POST', path, body: good });
  await recorder.play('role', { method: 'POST', path, key: sellerKey, body: good });
  await recorder.play('method', { method: 'DELETE', path, key });
  await recorder.play('not JSON', {
    method: 'POST',
    path,
    key,
    body: good,
    headers: { 'content-type': 'text/plain' },
  });
  await recorder.play('transaction', { method: 'GET', path: '/v1/transactions/order-unknown', key });
  await recorder.play('paid before', {
    method: 'POST',
    path: '/api/buyer/inquiry',
    key,
    body: { code: 'PLNPOST', customer_number: '530000001241' },
  });
  const closed = { method: 'PUT' as const, path: '/api/seller/products/GAME50', key: sellerKey };
  await recorder.play('changed', { ...closed, body: { status: 'maintenance' } });
  await buy('maintenance', { code: 'GAME50', customer_number: '12345678' });
}

async function rotateSecrets(cast: RecordingContext): Promise<void> {
  const { recorder } = cast;
  for (const [role, key] of sidesOf(cast)) {
    const config = `/api/${role}/api`;
    await recorder.play('replaced', { method: 'POST', path: `${config}/webhook-secret/rotate`, key });
    const { body } = await recorder.play('replaced', {
      method: 'POST',
      path: `${config}/keys/rotate`,
      key,
      body: { overlap_minutes: 60 },
    });
    // Use the new key from here on: the replaced one can no longer change the configuration.
    cast[role === 'seller' ? 'sellerKey' : 'buyerKey'] = String(body.data.api_key);
  }
  const slow = { method: 'POST' as const, path: '/api/seller/api/config', key: cast.sellerKey };
  await recorder.play('changed', { ...slow, body: { rate_limit: 1 } });
  await eventually('the rate limit is reached', async () => {
    const { status } = await recorder.play('limit', {
      method: 'GET',
      path: '/api/seller/balance',
      key: cast.sellerKey,
    });
    return status === 429;
  });
}

async function keepWebhooks({ recorder, stack, buyerKey: key }: RecordingContext): Promise<void> {
  // The provider's first response for this order is "pending".
  await recorder.play('accepted', {
    method: 'POST',
    path: '/api/buyer/transaction',
    key,
    body: { code: 'S10', customer_number: number('1233'), ref_id: 'order-20240301-0007' },
  });
  await stack.inbox.waitFor(({ headers }) => headers['x-event'] === 'transaction.pending');
  const moved = { webhook_url: `${stack.inbox.url}/hooks/new` };
  await recorder.play('changed', { method: 'POST', path: '/api/buyer/api/config', key, body: moved });
  await stack.inbox.waitFor(({ headers }) => headers['x-event'] === 'config.updated');
  for (const { headers, raw } of await stack.inbox.messages()) {
    recorder.keepWebhook(String(headers['x-event']), JSON.parse(raw));
  }
}
