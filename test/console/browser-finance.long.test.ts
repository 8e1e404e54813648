/**
 * Adjustments by two operators, and the account pages with keys and statements, in a real browser.
 */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { act, itStaysLocal, startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { expectPageToPassChecks } from './support/check-page.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { eventually } from '../support/eventually.js';
import { describeWith } from '../support/require-tool.js';

describeWith('chromium', 'finance in a browser', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let browser: ConsoleBrowser;
  let budi: Page;
  let dewi: Page;

  before(async () => {
    shop = await startOperatedStack();
    browser = await startConsoleBrowser(shop);
    [{ page: budi }, { page: dewi }] = [await browser.logIn('finance'), await browser.logIn('finance')];
  });
  after(async () => {
    await browser.close();
    await shop.stack.stop();
  });

  const statusOf = async (id: string) =>
    (await shop.stack.db.collection<{ _id: string; status: string }>('adjustments').findOne({ _id: id }))
      ?.status;
  async function askFor(page: Page, kind: 'credit' | 'debit', amount: string): Promise<void> {
    const form = page.getByRole('region', { name: 'Adjust a balance' });
    await form.getByLabel('Account').fill('buyer');
    await form.getByLabel('Credit or debit').selectOption(kind);
    await form.getByLabel('Amount in rupiah').fill(amount);
    await act(page, 'Adjust a balance');
  }

  it('sends an amount exactly as typed, or not at all', async () => {
    const page = budi;
    await browser.open(page, '/adjustments', 'Adjustments');
    const sent: number[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/admin/api/adjustments')) {
        sent.push((request.postDataJSON() as { amount: number }).amount);
      }
    });
    const form = page.getByRole('region', { name: 'Adjust a balance' });
    const field = form.getByLabel('Amount in rupiah');
    const wrong: [amount: string, why: string][] = [
      ['-50000', 'Must be at least 1.'],
      ['0', 'Must be at least 1.'],
      ...['50.000,00', '10.5', '5e4', '1.00', '1,000.000', '0x10', '99999999999999999'].map(
        (amount): [string, string] => [amount, 'Enter a whole number, such as 50000 or 50.000.'],
      ),
    ];
    await form.getByLabel('Account').fill('buyer');
    await form.getByLabel('Reason').fill('a figure that is none');
    for (const [amount, why] of wrong) {
      await field.fill(amount);
      await form.getByRole('button', { name: 'Adjust a balance' }).click();
      await form.getByText(why).waitFor();
      expect(await field.inputValue(), 'the amount as typed').to.equal(amount);
    }
    await expectPageToPassChecks(page, 'an amount that is none');
    await field.fill('51.000');
    await form.getByText('Rp 51.000').waitFor();
    await form.getByRole('button', { name: 'Adjust a balance' }).click();
    await page.getByText(/^Adjustment completed\./).waitFor();
    expect(sent).to.deep.equal([51_000]);
  });

  it("posts a small adjustment at once and a large one after another's approval", async () => {
    await browser.open(budi, '/adjustments', 'Adjustments');
    await budi.getByText('must approve an adjustment from Rp 1.000.000 on').waitFor();
    await askFor(budi, 'credit', '50000');
    await budi.getByText(/^Adjustment completed\. The balance is now Rp [\d.]+\.$/).waitFor();
    await askFor(budi, 'debit', '2500000');
    await budi.getByText('Waiting for a second operator, who can approve it on this page.').waitFor();
    const article = (page: Page, amount: string) => page.getByRole('article').filter({ hasText: amount });
    const own = article(budi, '−Rp 2.500.000');
    const id = (await own.getAttribute('aria-label'))?.replace('Adjustment ', '') ?? '';
    await own.getByRole('button', { name: 'Actions' }).press('Enter');
    await own.getByText('You requested this adjustment. Another operator must approve it.').waitFor();
    expect(await own.getByRole('button', { name: 'Approve adjustment' }).count()).to.equal(0);
    await expectPageToPassChecks(budi, 'adjustments');
    await browser.open(dewi, '', 'Today');
    await dewi.getByRole('link', { name: 'adjustments to approve' }).click();
    const other = article(dewi, '−Rp 2.500.000');
    await other.getByRole('button', { name: 'Actions' }).press('Enter');
    await other.getByText(/^Debits Rp 2\.500\.000 from buyer/).waitFor();
    await dewi.setViewportSize({ width: 375, height: 800 });
    await expectPageToPassChecks(dewi, 'an adjustment to approve at 375 px');
    await dewi.setViewportSize({ width: 1_280, height: 900 });
    await act(other, 'Approve adjustment');
    await eventually('the adjustment is completed', async () => (await statusOf(id)) === 'completed');
    await other.waitFor({ state: 'detached' });
    await askFor(budi, 'credit', '1000000');
    const next = article(budi, 'Rp 1.000.000');
    await next.getByRole('button', { name: 'Actions' }).press('Enter');
    await act(next, 'Reject adjustment');
    await next.waitFor({ state: 'detached' });
    await browser.open(dewi, '/adjustments?status=all&account=buyer', 'Adjustments');
    expect(await dewi.getByRole('article').count()).to.equal(4);
  });

  it('creates an account, shows its key once, and revokes a key', async () => {
    const { page } = await browser.logIn('admin');
    await browser.open(page, '/accounts', 'Accounts');
    const form = page.getByRole('region', { name: 'Create account' });
    await form.getByLabel('Username').fill('toko-peramban');
    await form.getByLabel('Role').selectOption('seller');
    await form.getByLabel('Provider type').selectOption('h2h');
    await form.getByLabel('Provider URL').fill('https://pulsa.example/api');
    await form.getByLabel('Our username at the provider').fill('kami');
    await form.getByRole('textbox', { name: 'Our secret at the provider' }).fill('rahasia-99');
    await expectPageToPassChecks(page, 'a new account');
    await act(page, 'Create account');
    const made = page.getByRole('status').filter({ hasText: 'These are shown only once' });
    expect(await made.innerText()).to.match(/sk_test_\w+[\s\S]*whsec_/);
    await page.setViewportSize({ width: 375, height: 800 });
    await expectPageToPassChecks(page, 'a created account at 375 px');
    await page.setViewportSize({ width: 1_280, height: 900 });
    await made.getByRole('link', { name: 'toko-peramban' }).click();
    await page.getByRole('heading', { level: 1, name: 'toko-peramban' }).waitFor();
    await page.getByText(/toko-peramban cannot use the API until you rotate its key/).waitFor();
    await expectPageToPassChecks(page, 'an account with a key to revoke');
    await act(page, 'Revoke API key');
    await page.getByRole('button', { name: 'Revoke API key' }).waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('shows a statement and downloads it as CSV, for Excel and as PDF', async () => {
    await browser.open(dewi, '/accounts/buyer', 'buyer');
    const statement = dewi.getByRole('region', { name: 'Statement' });
    await statement.getByRole('button', { name: 'Show statement' }).press('Enter');
    await statement.getByRole('cell', { name: 'adjustment' }).first().waitFor();
    for (const [name, file] of [
      ['Download CSV', /^statement-buyer-.*\.csv$/],
      ['Download CSV for Excel', /^statement-buyer-.*\.csv$/],
      ['Download PDF', /^statement-buyer-.*\.pdf$/],
    ] as const) {
      const [download] = await Promise.all([
        dewi.waitForEvent('download'),
        statement.getByRole('link', { name, exact: true }).press('Enter'),
      ]);
      expect(download.suggestedFilename()).to.match(file);
    }
  });

  it('offers no action to a viewer, also in Indonesian', async () => {
    const { page } = await browser.logIn('viewer', 'id-ID');
    await browser.open(page, '/adjustments?status=all', 'Koreksi saldo');
    expect(await page.getByRole('article').count()).to.be.greaterThan(0);
    expect(await page.getByRole('region', { name: 'Koreksi saldo akun' }).count()).to.equal(0);
    await expectPageToPassChecks(page, 'adjustments in Indonesian');
  });

  itStaysLocal(() => browser);
});
