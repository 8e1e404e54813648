/** The console pages in a real browser with the real service: content, actions and permissions. */
import { expect } from 'chai';
import { Long } from 'mongodb';
import type { Page } from 'playwright-core';
import { addProduct } from '../providers/provider-stack.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import { act, pagesWith, startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { reason } from './support/console-caller.js';
import { expectPageToPassChecks } from './support/check-page.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

describeWith('chromium', 'the console in a browser', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let browser: ConsoleBrowser;
  let admin: { page: Page; name: string };

  before(async () => {
    shop = await startOperatedStack();
    browser = await startConsoleBrowser(shop);
    admin = await browser.logIn('admin');
  });
  after(async () => {
    await browser.close();
    await shop.stack.stop();
  });

  const open: ConsoleBrowser['open'] = (...asked) => browser.open(...asked);

  async function expectAudited(subject: string, action: string): Promise<void> {
    const audit = shop.stack.db.collection('audit');
    const wanted = { 'subject.id': subject, action, actor: `operator:${admin.name}` };
    const found = await eventually(`${action} of ${subject}`, () => audit.findOne(wanted));
    expect(found['reason']).to.equal(reason);
  }

  const idOf = async (username: string) =>
    String((await shop.stack.db.collection('accounts').findOne({ username }))?._id);
  const statusOf = async (id: string) => (await shop.purchaseOf(id))?.status;

  it('the Today page links open work and shows the figures of the day', async () => {
    const { page } = admin;
    await shop.buySuccessfully();
    const id = await shop.addOpenCase('seen today');
    const volume = page.getByRole('figure', { name: /^Purchases per hour/ });
    const lastHour = volume.getByRole('row').last();
    // The first response may still come from the cache.
    await eventually('the sale is in its hour', async () => {
      await open(page, '', 'Today');
      await volume.getByText('Show as table').press('Enter');
      return /^\d\d:00\s+[1-9]/.test(await lastHour.innerText());
    });
    expect(await volume.getByRole('row').count()).to.equal(25);
    await page
      .getByRole('region', { name: 'Sales' })
      .getByText(/^Rp [1-9][\d.]+$/)
      .waitFor();
    await page
      .getByRole('table')
      .getByRole('link', { name: /^seller\d?$/ })
      .waitFor();
    await expectPageToPassChecks(page, 'today');
    await page.getByRole('region', { name: 'Needs attention' }).getByText('open cases').click();
    await page.getByRole('article', { name: new RegExp(id) }).waitFor();
  });

  it('finds a purchase by Ctrl-K and by a filter that is in the URL', async () => {
    const { page } = admin;
    const id = await shop.buySuccessfully();
    const stored = await shop.purchaseOf(id);
    await open(page, '/purchases', 'Purchases');
    await page
      .getByRole('link', { name: /GMT\+7/ })
      .first()
      .waitFor();
    expect(await page.getByRole('cell', { name: /^Rp \d+\.\d{3}$/ }).count()).to.be.greaterThan(0);
    await expectPageToPassChecks(page, 'purchases');
    await page.keyboard.press('Control+k');
    await page.getByRole('textbox', { name: 'Find' }).fill(stored?.refId ?? '');
    await page
      .getByText(stored?.refId ?? '', { exact: false })
      .last()
      .waitFor();
    await page.getByRole('button', { name: new RegExp(stored?.customerNumber ?? '') }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/admin/purchases/${id}$`));
    await page.goBack();
    await page.getByLabel('Status').selectOption('FAILED');
    await page.getByLabel('Account').fill('buyer2');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No purchases match this filter.').waitFor();
    expect(new URL(page.url()).search).to.equal('?status=FAILED&account=buyer2');
    await page.getByLabel('Account').fill('nobody-here');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('alert').getByText('There is no account nobody-here').waitFor();
  });

  it('decides purchases under review, reverses a sale and replays a delivery', async () => {
    const { page } = admin;
    const [done, failed, asked] = await Promise.all([
      shop.buyUnderReview(),
      shop.buyUnderReview(),
      shop.buyUnderReview(),
    ]);
    await open(page, `/purchases/${done}`, /S10/);
    await expectPageToPassChecks(page, 'purchase-to-decide');
    await page
      .getByRole('region', { name: 'Mark as successful' })
      .getByLabel('Serial number')
      .fill('SN-4711');
    await act(page, 'Mark as successful');
    await eventually('the purchase is SUCCESS', async () => (await statusOf(done)) === 'SUCCESS');
    expect(await shop.purchaseOf(done)).to.include({ serialNumber: 'SN-4711' });
    await expectAudited(done, 'review.resolve');

    await act(page, 'Reverse purchase');
    await eventually('the purchase is REFUNDED', async () => (await statusOf(done)) === 'REFUNDED');
    await page.getByText('REFUNDED', { exact: true }).waitFor();

    await open(page, `/purchases/${asked}`, /S10/);
    await act(page, 'Resume processing');
    await expectAudited(asked, 'review.resolve');

    await open(page, '/cases', 'Cases');
    const article = page.getByRole('article', { name: new RegExp(failed) });
    await article.getByRole('button', { name: 'Actions' }).click();
    await act(article, 'Mark as failed');
    await eventually('the purchase is FAILED', async () => (await statusOf(failed)) === 'FAILED');
    await article.waitFor({ state: 'detached' });
    await expectAudited(failed, 'review.resolve');

    const sold = await shop.buySuccessfully();
    const deliveries = shop.stack.db.collection<{ _id: string }>('deliveries');
    const delivery = await eventually('the webhook is delivered', () =>
      deliveries.findOne({ orderKey: sold, state: 'delivered' }),
    );
    await deliveries.deleteMany({ orderKey: sold, _id: { $ne: delivery._id } });
    await open(page, `/purchases/${sold}`, /S10/);
    await act(page, 'Resend');
    await expectAudited(delivery._id, 'webhook.replay');
    await eventually('the second attempt', () => deliveries.findOne({ _id: delivery._id, attemptCount: 2 }));
  });

  it('closes a case', async () => {
    const { page } = admin;
    const id = await shop.addOpenCase('credit note 311');
    await open(page, '/cases', 'Cases');
    const article = page.getByRole('article', { name: new RegExp(id) });
    await article.getByRole('button', { name: 'Actions' }).click();
    await expectPageToPassChecks(page, 'cases');
    await act(article, 'Close case');
    await article.waitFor({ state: 'detached' });
    await expectAudited(id, 'case.resolve');
  });

  it('credits one deposit and rejects another', async () => {
    const { page } = admin;
    const [paid, unpaid] = [await shop.askForDeposit(125_000), await shop.askForDeposit(126_000)];
    const deposits = shop.stack.db.collection<{ _id: string; status: string }>('deposits');
    await open(page, '/deposits', 'Deposits');
    for (const [{ id, refId }, action, status] of [
      [paid, 'Confirm deposit', 'completed'],
      [unpaid, 'Reject deposit', 'rejected'],
    ] as const) {
      const article = page.getByRole('article', { name: `Deposit ${refId}` });
      await article.getByRole('link', { name: 'buyer', exact: true }).waitFor();
      await article.getByRole('button', { name: 'Actions' }).click();
      await expectPageToPassChecks(page, 'deposits');
      await act(article, action);
      await article.waitFor({ state: 'detached' });
      expect((await deposits.findOne({ _id: id }))?.status).to.equal(status);
      await expectAudited(id, status === 'completed' ? 'deposit.confirm' : 'deposit.reject');
    }
    await page.getByLabel('Status').selectOption('rejected');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('article', { name: `Deposit ${unpaid.refId}` }).waitFor();
  });

  it('approves a settlement, claims it and marks it as paid', async () => {
    const { page } = admin;
    const settlements = shop.stack.db.collection<{ _id: string; status: string }>('settlements');
    const stateOf = async (id: string) => (await settlements.findOne({ _id: id }))?.status;
    const known = await shop.askForSettlement({ amount: 100_000, accountNumber: '1234567890' });
    const id = await shop.askForSettlement({ amount: 80_000, accountNumber: '5550001111' });
    await open(page, '/settlements', 'Settlements');
    const article = page.getByRole('article', { name: new RegExp(id) });
    await article.getByText('PT Pulsa Jaya', { exact: true }).waitFor();
    await article.getByRole('link', { name: 'seller', exact: true }).waitFor();
    await article.getByRole('button', { name: 'Actions' }).click();
    await expectPageToPassChecks(page, 'settlements');
    await act(article, 'Approve settlement');
    await expectAudited(id, 'settlement.approve');
    await eventually('it waits for an operator', async () => (await stateOf(id)) === 'processing');
    await open(page, '/settlements', 'Settlements');
    await article.getByRole('button', { name: 'Actions' }).click();
    await act(article, 'Claim settlement');
    await expectAudited(id, 'settlement.claim');
    await article.getByLabel('Bank reference').fill('BCA 4711');
    await act(article, 'Mark as paid');
    await article.waitFor({ state: 'detached' });
    expect(await stateOf(id)).to.equal('completed');
    const other = page.getByRole('article', { name: new RegExp(known) });
    await other.getByRole('button', { name: 'Actions' }).click();
    await act(other, 'Mark as failed');
    await other.waitFor({ state: 'detached' });
    expect(await stateOf(known)).to.equal('failed');
  });

  it('replays a dead delivery and enables a receiver', async () => {
    const { page } = admin;
    const sold = await shop.buySuccessfully();
    const deliveries = shop.stack.db.collection<{ _id: string }>('deliveries');
    const delivery = await eventually('the webhook is delivered', () =>
      deliveries.findOne({ orderKey: sold, state: 'delivered' }),
    );
    await deliveries.updateOne({ _id: delivery._id }, { $set: { state: 'dead', settledAt: new Date() } });
    const id = await idOf('buyer2');
    await shop.stack.db.collection<{ _id: string; [field: string]: unknown }>('webhookReceivers').insertOne({
      _id: `${id}-browser`,
      accountId: id,
      address: 'https://shop.example/hook',
      failures: 40,
      timeouts: 0,
      failingSince: new Date(),
      disabledAt: new Date(),
      disabledBecause: 'gone',
      openMs: 0,
    });
    await open(page, '/webhooks', 'Webhooks');
    const receiver = page.getByRole('article', { name: /^Receiver buyer2 / });
    await receiver.getByRole('button', { name: 'Actions' }).click();
    await expectPageToPassChecks(page, 'webhooks');
    await act(receiver, 'Enable webhooks');
    await expectAudited(id, 'webhook.enable');
    await receiver.waitFor({ state: 'detached' });
    const article = page.getByRole('article', { name: new RegExp(delivery._id) });
    await article.getByRole('button', { name: 'Actions' }).click();
    await act(article, 'Resend');
    await expectAudited(delivery._id, 'webhook.replay');
    await article.waitFor({ state: 'detached' });
    await page.getByLabel('Account').fill('buyer');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('article').first().waitFor();
  });

  it('pauses and resumes a provider, sets limits and compares its records', async () => {
    const { page } = admin;
    const id = await idOf('seller');
    await shop.buySuccessfully();
    await open(page, '/providers', 'Providers');
    const article = page.getByRole('article', { name: 'Provider seller', exact: true });
    await article.getByText('available').waitFor();
    await expectPageToPassChecks(page, 'providers');
    await article.getByRole('link', { name: 'seller' }).click();
    await page.getByRole('heading', { level: 1, name: 'seller' }).waitFor();
    await act(page, 'Pause provider');
    await expectAudited(id, 'provider.pause');
    await expectPageToPassChecks(page, 'provider');
    await act(page, 'Resume provider');
    await expectAudited(id, 'provider.resume');
    await page.getByLabel('Concurrent requests').fill('40');
    await act(page, 'Edit limits');
    await expectAudited(id, 'provider.change');
    await act(page, 'Test connection');
    await page.getByText(/^Response after .*\. Balance: Rp [\d.]+\.$/).waitFor();
    await page.getByRole('button', { name: 'Get price list' }).click();
    await page.getByText('Listed by the provider', { exact: true }).waitFor();
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Jakarta' }).format(new Date());
    await page.getByLabel(/^Day/).fill(day);
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('Matched', { exact: true }).waitFor();
  });

  it("changes a seller's price, and below cost only after confirmation", async () => {
    const { page } = admin;
    const sellerId = await idOf('seller2');
    const code = await addProduct(shop.stack, [{ sellerId, price: 21_000 }]);
    const offers = shop.stack.db.collection<{ _id: string }>('offers');
    const _id = `${code}:${sellerId}`;
    await offers.updateOne({ _id }, { $set: { cost: Long.fromNumber(20_000) } });
    await open(page, `/products?prefix=${code}`, 'Products');
    await expectPageToPassChecks(page, 'products');
    await page.getByRole('link', { name: code, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: code }).waitFor();
    await expectPageToPassChecks(page, 'product');
    await page.getByLabel('Price').fill('20100');
    await act(page, 'Edit offer of seller2');
    await page.getByRole('alert').getByText('each sale loses 302').waitFor();
    await page.getByLabel('Allow selling at a loss').check();
    await page.getByRole('button', { name: 'Edit offer of seller2' }).press('Enter');
    await page.getByRole('table', { name: 'Offers' }).getByRole('cell', { name: '20.100' }).waitFor();
    expect(await offers.findOne({ _id })).to.include({ price: 20_100 });
    await expectAudited(code, 'product.update');
  });

  it('shows failing checks with advice and retries a job', async () => {
    const { page } = admin;
    const id = await shop.addUnreadableJob();
    await open(page, '/system', 'System');
    const trouble = page.getByRole('article', { name: 'jobs that fail repeatedly' });
    await trouble.getByText('topup job list').waitFor();
    await expectPageToPassChecks(page, 'system');
    await act(page, `Retry job ${id}`);
    await expectAudited('reports', 'job.retry');
    await trouble.waitFor({ state: 'detached' });
  });

  it('starts a ledger verification and shows its result and audit entry', async () => {
    const { page } = admin;
    await open(page, '/ledger', 'Ledger');
    await act(page, 'Verify now');
    await page
      .getByRole('status')
      .getByText(/^All (checked )?rules hold$/)
      .waitFor();
    await expectPageToPassChecks(page, 'ledger');
    await open(page, '/audit?action=ledger.', 'Audit');
    await page
      .getByRole('article', { name: /^ledger\.verify / })
      .first()
      .waitFor();
    await expectPageToPassChecks(page, 'audit');
  });

  it('performs every action on an account', async () => {
    const { page } = admin;
    const accounts = shop.stack.db.collection('accounts');
    const id = await idOf('buyer2');
    await accounts.updateOne({ username: 'buyer2' }, { $set: { ipWhitelist: ['192.0.2.1'] } });
    await open(page, '/accounts?prefix=buyer2', 'Accounts');
    await page.getByRole('link', { name: 'buyer2' }).click();
    await page.getByRole('heading', { level: 1, name: 'buyer2' }).waitFor();
    await expectPageToPassChecks(page, 'account');
    await act(page, 'Suspend account');
    await expectAudited(id, 'account.suspend');
    await act(page, 'Reactivate account');
    await expectAudited(id, 'account.resume');
    await page.getByRole('switch', { name: 'Require HMAC, refuse md5 signs' }).press('Space');
    await page.getByLabel('Maximum requests per minute').fill('600');
    await act(page, 'Edit limits and rules');
    await expectAudited(id, 'account.set');
    expect(await accounts.findOne({ username: 'buyer2' })).to.include({
      requireStrongSign: true,
      rateLimitMax: 600,
    });
    await act(page, 'Clear IP allowlist');
    await expectAudited(id, 'config.update');
    await act(page, 'Revoke download links');
    await expectAudited(id, 'account.revoke-links');
    await act(page, 'Rotate API key');
    await page.getByText(/^bk_/).waitFor();
    await expectAudited(id, 'api-key.rotate');
    await open(page, '/accounts/buyer', 'buyer');
    await page.getByRole('button', { name: 'Show statement' }).click();
    await page.getByText('Closing balance').waitFor();
    expect(await page.getByRole('cell', { name: /^−?Rp [\d.]+$/ }).count()).to.be.greaterThan(1);
  });

  it('every page works at 375 px, in dark mode and Indonesian, and passes axe', async () => {
    const { page } = await browser.logIn('viewer', 'id-ID');
    const id = await shop.buySuccessfully();
    await page.setViewportSize({ width: 375, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    const job = await shop.addUnreadableJob();
    for (const [path, , heading] of pagesWith({ purchase: id, job })) {
      const name =
        path
          .replace(id, 'purchase')
          .replace(encodeURIComponent(job), 'job')
          .replace(/\?.*/, '')
          .replaceAll('/', '-')
          .slice(1) || 'today';
      await open(page, path, heading);
      await expectPageToPassChecks(page, `${name}-375-dark`);
    }
    await page.getByRole('button', { name: 'Buka menu' }).click();
    await page.getByRole('link', { name: 'Kasus' }).click();
    await page.getByRole('heading', { level: 1, name: 'Kasus' }).waitFor();
  });

  it('keeps the ledger consistent, loads nothing external and breaks no CSP rule', async () => {
    await expectLedgerToBalance(shop.stack);
    expect(browser.outside).to.deep.equal([]);
    expect(browser.reports).to.deep.equal([]);
  });
});
