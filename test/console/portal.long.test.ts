import { expect } from 'chai';
import { chromium, type Browser, type Page } from 'playwright-core';
import { expectPageToPassChecks } from './support/check-page.js';
import { chromiumArgs, findChromium } from './support/chromium.js';
import { waitUntilLoaded } from './support/wait-until-loaded.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { englishWordIn } from '../api/language/english-words.js';
import { eventually } from '../support/eventually.js';
import { topup, topupProcess } from '../support/topup.js';
import { sendResponse, acceptRequest, startReceiver } from '../webhooks/support/receiver.js';
import { productionEnv } from '../support/production-env.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';
import { describeWith } from '../support/require-tool.js';

describeWith('chromium', '/portal, in Chromium', function () {
  this.timeout(120_000);
  let stack: Stack;
  let accounts: Record<string, SeededAccount>;
  let browser: Browser;
  const outside: string[] = [];
  const reports: string[] = [];

  before(async () => {
    stack = await startStack({ workers: ['fulfilment', 'follow-up', 'webhooks'] });
    accounts = await stack.seed();
    browser = await chromium.launch({ executablePath: findChromium() ?? '', args: chromiumArgs });
  });
  after(async () => {
    await browser.close();
    await stack.stop();
  });

  const keyOf = (name: string): string => accounts[name]?.api_key ?? '';

  async function open(locale = 'en-GB', width = 1_280, baseUrl = stack.baseUrl): Promise<Page> {
    const context = await browser.newContext({
      locale,
      reducedMotion: 'reduce',
      viewport: { width, height: 900 },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${baseUrl}/`)) {
        outside.push(request.url());
      }
    });
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) {
        reports.push(message.text());
      }
    });
    page.on('pageerror', (error) => reports.push(String(error)));
    await page.goto(`${baseUrl}/portal`);
    return page;
  }

  async function openSignedIn(key: string, locale?: string, width?: number, baseUrl?: string): Promise<Page> {
    const page = await open(locale, width, baseUrl);
    await page.getByLabel(/API key|Kunci API/).fill(key);
    await page.getByRole('button', { name: /^(Sign in|Masuk)$/ }).click();
    await page.getByRole('heading', { level: 1, name: /^(Overview|Ringkasan)$/ }).waitFor();
    return page;
  }

  async function go(page: Page, path: string, heading: string, baseUrl = stack.baseUrl): Promise<void> {
    await page.goto(`${baseUrl}/portal${path}`);
    await waitUntilLoaded(page, heading);
  }

  it('accepts only a valid key, explains refusals and forgets the key at sign-out', async () => {
    const page = await open();
    await expectPageToPassChecks(page, 'portal-sign-in');
    await page.getByLabel('API key').fill('secret');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('starts with bk_').waitFor();
    await page.getByLabel('API key').fill(`${keyOf('buyer').slice(0, -1)}_`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText(/key/).waitFor();
    await page.getByLabel('API key').fill(keyOf('buyer'));
    await page.getByRole('button', { name: 'Sign in' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.getByText('sandbox', { exact: true }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).to.equal('{}');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).to.equal('{}');
  });

  it('shows calls and responses live, and finds a call by ref_id', async () => {
    const page = await openSignedIn(keyOf('buyer'));
    const buyer = apiClient(stack.baseUrl, keyOf('buyer'));
    const refId = uniqueRef('portal');
    const order = { product_code: 'NO-SUCH', destination: '081234561230', ref_id: refId };
    await go(page, '/requests', 'Requests');
    await buyer.post('/v1/transactions', order);
    await page.getByText(refId).first().waitFor();
    await page.getByLabel('ref_id').fill(refId);
    await page.getByLabel('Result').selectOption('true');
    await page.getByRole('button', { name: 'Filter' }).click();
    const call = page.getByRole('article', { name: 'POST /v1/transactions' });
    await call.getByText('404 product_not_found').waitFor();
    await eventually('only one call is left', async () => (await page.getByRole('article').count()) === 1);
    await call.getByText('Request and response').press('Enter');
    await call.getByText('"destination": "********1230"').waitFor();
    await expectPageToPassChecks(page, 'portal-requests');
  });

  it('creates an endpoint, pings it, replays a delivery and removes it', async () => {
    const page = await openSignedIn(keyOf('buyer2'));
    await go(page, '/webhooks', 'Webhooks');
    await page.getByRole('button', { name: 'Add endpoint' }).first().click();
    const form = page.getByRole('region', { name: 'Add endpoint' });
    await form.getByLabel('URL').fill(`${stack.inbox.url}/portal`);
    await form.getByLabel('Description').fill('from the portal');
    await form.getByLabel('transaction.*').press('Space');
    await form.getByRole('button', { name: 'Add endpoint' }).press('Enter');
    const endpoint = page.getByRole('article', { name: /^Endpoint / }).filter({ hasText: '/portal' });
    await endpoint.getByText('from the portal').waitFor();
    await endpoint.getByRole('button', { name: 'Send ping' }).click();
    await endpoint.getByText(/Delivered in/).waitFor();
    const ping = page.getByRole('article', { name: /^ping/ }).first();
    await ping.getByText('delivered').waitFor();
    await ping.getByRole('button', { name: 'Resend' }).click();
    await ping.getByText('Attempt 2').waitFor();
    await expectPageToPassChecks(page, 'portal-webhooks');
    await endpoint.getByRole('button', { name: 'Actions' }).click();
    const change = endpoint.getByRole('region', { name: 'Edit endpoint' });
    await change.getByLabel('Description').fill('changed');
    // Use the keyboard: the section is still opening, so an element could move between mouse-down
    // and mouse-up.
    await change.getByLabel('deposit.*').press('Space');
    await change.getByRole('button').press('Enter');
    await endpoint.getByText('transaction.*, deposit.*').waitFor();
    await endpoint.getByRole('region', { name: 'Rotate secret' }).getByRole('button').press('Enter');
    await eventually('both changes are done', async () => (await endpoint.getByText('Done.').count()) === 2);
    await endpoint.getByRole('region', { name: 'Remove endpoint' }).getByRole('button').press('Enter');
    await endpoint.waitFor({ state: 'detached' });
  });

  it('lists scenario numbers, ends a purchase and sends a sample event', async () => {
    const buyer = apiClient(stack.baseUrl, keyOf('buyer'));
    const refId = uniqueRef('held');
    await buyer.post('/api/buyer/deposit', { amount: 100_000, ref_id: uniqueRef('portal') });
    await buyer.post('/v1/transactions', { product_code: 'S10', destination: '081234561238', ref_id: refId });
    const page = await openSignedIn(keyOf('buyer'));
    await go(page, '/sandbox', 'Sandbox');
    await page.getByRole('cell', { name: '…1238' }).waitFor();
    await expectPageToPassChecks(page, 'portal-sandbox');
    const form = page.getByRole('region', { name: 'Set the result of a purchase' });
    await form.getByLabel('ref_id').fill(refId);
    await form.getByLabel('Result').selectOption('failed');
    const status = async () =>
      (await buyer.get(`/api/buyer/transactions/${refId}`)).body.data.status as string;
    // The purchase can be ended only after the simulator has received the order.
    await eventually('the simulator has the order', async () => (await status()) === 'processing');
    await form.getByRole('button').press('Enter');
    await form.getByText('Done.').waitFor();
    await eventually('the purchase has failed', async () => (await status()) === 'failed');
    await go(page, '/webhooks', 'Webhooks');
    const endpoint = page.getByRole('article', { name: /^Endpoint / }).first();
    await endpoint.getByLabel('Event', { exact: true }).selectOption('transaction.failed');
    await endpoint.getByRole('button', { name: 'Send test event' }).click();
    await endpoint.getByText(/Delivered in/).waitFor();
  });

  it('runs due work early: a delivery due in an hour arrives', async () => {
    const buyer = apiClient(stack.baseUrl, keyOf('buyer'));
    const receiver = await startReceiver((_request, response) => sendResponse(response, 500));
    try {
      const made = await buyer.post('/api/buyer/webhooks', {
        url: receiver.url,
        events: ['transaction.success'],
      });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      const endpointId = made.body.data.id as string;
      await buyer.post('/api/buyer/deposit', { amount: 50_000, ref_id: uniqueRef('later') });
      const order = { product_code: 'S10', destination: '081234561230', ref_id: uniqueRef('later') };
      await buyer.post('/v1/transactions', order);
      const rows = stack.db.collection('deliveries');
      const refused = { endpointId, leaseToken: null, 'attempts.0': { $exists: true } };
      const { _id, receiverId } = await eventually('the first attempt fails', () => rows.findOne(refused));
      const inAnHour = new Date(Date.now() + 3_600_000);
      await rows.updateOne({ _id }, { $set: { nextAttemptAt: inAnHour } });
      await stack.db
        .collection<{ _id: string }>('webhookReceivers')
        .updateOne({ _id: receiverId as string }, { $set: { openUntil: inAnHour } });
      receiver.behave(acceptRequest);
      const page = await openSignedIn(keyOf('buyer'));
      await go(page, '/sandbox', 'Sandbox');
      const form = page.getByRole('region', { name: 'Run scheduled work now' });
      await form.getByRole('button').press('Enter');
      await form.getByText('Done.').waitFor();
      await eventually('delivery', async () => (await rows.findOne({ _id }))?.['state'] === 'delivered');
    } finally {
      await receiver.close();
    }
  });

  it('a live key shows the live mode and no sandbox', async () => {
    const risks = 'open-mongodb,open-redis';
    const live = {
      ...productionEnv(),
      NODE_ENV: 'test',
      ACCEPTED_RISKS: risks,
      APP_MODE: 'live',
      SIMULATOR_URL: '',
      LOCAL_DIR: '',
    };
    const web = await stack.startWeb(live);
    // A change in live mode requires the operator's own key.
    const given = await topup(['operator', 'key', 'admin', '--json'], stack.env);
    const operator = { ...stack.env, ...live, TOPUP_OPERATOR_KEY: String(given.json()['operator_key']) };
    const create = ['account', 'create', uniqueRef('live'), '--role', 'buyer', '--json'];
    const made = await topupProcess(create, operator);
    expect(made.code, made.stdout + made.stderr).to.equal(0);
    const key = String(made.json()['api_key']);
    expect(key).to.match(/^bk_live_/);
    const page = await openSignedIn(key, 'en-GB', 1_280, web.url);
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.getByText('sandbox', { exact: true }).count()).to.equal(0);
    await page.getByRole('link', { name: 'Statement' }).waitFor();
    expect(await page.getByRole('link', { name: 'Sandbox' }).count()).to.equal(0);
    await go(page, '/sandbox', 'Sandbox', web.url);
    await page.getByText('This page is only for buyers in the sandbox').waitFor();
    await page.setViewportSize({ width: 375, height: 812 });
    for (const [path, heading] of [
      ['', 'Overview'],
      ['/requests', 'Requests'],
      ['/webhooks', 'Webhooks'],
      ['/statement', 'Statement'],
      ['/settings', 'Settings'],
    ] as const) {
      await go(page, path, heading, web.url);
      await expectPageToPassChecks(page, `portal-live-phone${path.replace('/', '-')}`);
    }
    await page.getByRole('button', { name: 'Show: API key' }).click();
    await page.getByText(key).waitFor();
    await web.stop();
  });

  it('shows the statement and downloads it as a file', async () => {
    const buyer = apiClient(stack.baseUrl, keyOf('buyer'));
    await buyer.post('/api/buyer/deposit', { amount: 123_000, ref_id: uniqueRef('portal') });
    const page = await openSignedIn(keyOf('buyer'));
    await go(page, '/statement', 'Statement');
    await page.getByRole('cell', { name: 'Rp 123.000' }).first().waitFor();
    await expectPageToPassChecks(page, 'portal-statement');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Download/ }).click();
    expect((await download).suggestedFilename()).to.equal('statement.csv');
  });

  it('continues with a new key and signs out sessions with the old key', async () => {
    const [page, elsewhere] = [await openSignedIn(keyOf('buyer2')), await openSignedIn(keyOf('buyer2'))];
    await go(page, '/settings', 'Settings');
    await page.getByRole('button', { name: 'Show: API key' }).click();
    await page.getByText(keyOf('buyer2')).waitFor();
    const form = page.getByRole('region', { name: 'Rotate API key' });
    await form.getByLabel('Old key expires').selectOption('0');
    await form.getByRole('button', { name: 'Rotate API key' }).press('Enter');
    await page.getByText('The new key is shown above').waitFor();
    await expectPageToPassChecks(page, 'portal-settings');
    await eventually('the new key', async () => (await page.getByText(keyOf('buyer2')).count()) === 0);
    await elsewhere.getByRole('link', { name: 'Statement' }).click();
    await elsewhere
      .getByRole('alert')
      .getByText(/API key/)
      .waitFor();
    await elsewhere.getByLabel('API key').waitFor();
  });

  it('each buyer page is fully Indonesian and passes the page checks on a phone', async () => {
    const key = keyOf('buyer');
    const buyer = apiClient(stack.baseUrl, key);
    await buyer.post('/api/buyer/deposit', { amount: 50_000, ref_id: uniqueRef() });
    await buyer.post('/api/buyer/webhooks/test', {});
    const page = await openSignedIn(key, 'id-ID', 375);
    const found: string[] = [];
    for (const [path, heading] of [
      ['', 'Ringkasan'],
      ['/requests', 'Permintaan'],
      ['/webhooks', 'Webhook'],
      ['/statement', 'Mutasi'],
      ['/sandbox', 'Sandbox'],
      ['/settings', 'Pengaturan'],
    ] as const) {
      await go(page, path, heading);
      await expectPageToPassChecks(page, `portal-buyer-phone${path.replace('/', '-')}`);
      const text = await page.evaluate<string>('document.body.innerText');
      found.push(
        ...text
          .split('\n')
          .filter(isEnglish)
          .map((line) => `${path}: ${line}`),
      );
    }
    expect(found).to.deep.equal([]);
  });

  it('shows a seller the same pages; refuses an allowlist without their address', async () => {
    const page = await openSignedIn(keyOf('seller'), 'id-ID', 375);
    await expectPageToPassChecks(page, 'portal-seller-phone');
    for (const [path, heading] of [
      ['/requests', 'Permintaan'],
      ['/webhooks', 'Webhook'],
      ['/statement', 'Mutasi'],
      ['/settings', 'Pengaturan'],
    ] as const) {
      await go(page, path, heading);
      await expectPageToPassChecks(page, `portal-seller-phone${path.replace('/', '-')}`);
    }
    // No seller page links to this URL, but someone may share it.
    await go(page, '/sandbox', 'Sandbox');
    await page.getByText('Halaman ini hanya untuk pembeli di sandbox.').waitFor();
    expect(await page.getByRole('alert').count()).to.equal(0);
    await expectPageToPassChecks(page, 'portal-seller-phone-sandbox');
    await go(page, '/settings', 'Pengaturan');
    const form = page.getByRole('region', { name: 'Ubah daftar IP' });
    await form.getByRole('textbox').fill('203.0.113.7');
    await form.getByRole('button').press('Enter');
    await form
      .getByRole('alert')
      .getByText(/127\.0\.0\.1/)
      .waitFor();
  });

  it('changes the allowlist and empties it', async () => {
    const buyer = apiClient(stack.baseUrl, keyOf('buyer'));
    const stored = async () => (await buyer.get('/api/buyer/api/config')).body.data.ip_whitelist as string[];
    const page = await openSignedIn(keyOf('buyer'));
    for (const [written, wanted] of [
      ['127.0.0.1, 10.1.2.3/8\n127.0.0.1', ['127.0.0.1', '10.0.0.0/8']],
      ['', []],
    ] as const) {
      await go(page, '/settings', 'Settings');
      const form = page.getByRole('region', { name: 'Edit IP allowlist' });
      await form.getByRole('textbox').fill(written);
      await form.getByRole('button').press('Enter');
      await form.getByText('Done.').waitFor();
      expect(await stored()).to.deep.equal(wanted);
      await page.reload();
      await eventually(
        'the form shows the stored list',
        async () => (await form.getByRole('textbox').inputValue()) === wanted.join('\n'),
      );
    }
  });

  it('loads nothing external, breaks no CSP rule and cannot be framed', async () => {
    expect(outside).to.deep.equal([]);
    expect(reports).to.deep.equal([]);
    const { headers } = await fetch(`${stack.baseUrl}/portal/settings`);
    expect(headers.get('content-security-policy')).to.include("frame-ancestors 'none'");
    expect(headers.get('cache-control')).to.equal('no-store');
    expect((await fetch(`${stack.baseUrl}/portal`, { method: 'POST' })).status).to.equal(405);
  });
});

/**
 * Returns whether a line contains English words. Event names, calls, URLs and references are
 * ignored.
 */
function isEnglish(line: string): boolean {
  const words = line.replace(/\b\w+\.[\w*]+|\S*\/\S+|\w+-\d+-\S+/g, ' ');
  return englishWordIn(words) !== null || portalWords.test(words);
}

const portalWords =
  /\b(api key|keys?|secrets?|events?|purchase|refund|reversal|reversed|transactions?|inquiry|payments?|bill|failed|failing|enabled|disabled|delivered|due|dead|held|dropped|succeeds|refused|provider|settlement)\b/i;
