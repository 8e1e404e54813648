/**
 * The operator pages and the own-account page in a real browser: logins, second factor, sessions.
 */
import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import type { Locator, Page } from 'playwright-core';
import { consoleClient, csrfIn, fields } from '../support/console-client.js';
import { eventually } from '../support/eventually.js';
import { itStaysLocal, startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { reason } from './support/console-caller.js';
import { expectPageToPassChecks } from './support/check-page.js';
import { password, startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

describeWith('chromium', 'operators in a browser', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let browser: ConsoleBrowser;

  before(async () => {
    shop = await startOperatedStack();
    browser = await startConsoleBrowser(shop);
  });
  after(async () => {
    await browser.close();
    await shop.stack.stop();
  });

  const operatorOf = (username: string) => shop.stack.db.collection('operators').findOne({ username });
  const auditOf = async (username: string, action: string) => {
    const wanted = { action, 'after.username': username };
    return eventually(action, () => shop.stack.db.collection('audit').findOne(wanted));
  };

  /** Fills in and submits a form that asks for the password. */
  async function submitWithPassword(
    where: Page | Locator,
    title: string,
    values: Record<string, string> = {},
  ) {
    const form = where.getByRole('region', { name: title, exact: true });
    for (const [label, value] of Object.entries({ 'Your current password': password, ...values })) {
      await form
        .getByLabel(label, { exact: true })
        .or(form.getByLabel(`${label} *`, { exact: true }))
        .fill(value);
    }
    await form.getByRole('button', { name: title, exact: true }).press('Enter');
    return form;
  }

  it('an admin creates, changes and removes an operator and ends sessions', async () => {
    const { page, name } = await browser.logIn('admin');
    await browser.open(page, '/operators', 'Operators');
    const form = page.getByRole('region', { name: 'Create operator' });
    await form.getByLabel('Username').fill('dewi');
    await form.getByLabel('Role').selectOption('support');
    await submitWithPassword(page, 'Create operator', {
      'Your current password': 'not the password',
      Reason: reason,
    });
    await form.getByRole('alert').getByText('The password is wrong.').waitFor();
    expect(await operatorOf('dewi')).to.equal(null);
    await submitWithPassword(page, 'Create operator', { Reason: reason });
    const article = page.getByRole('article', { name: 'Operator dewi' });
    await article.waitFor();
    const made = page.getByRole('status').filter({ hasText: 'Password of dewi' });
    const shown = (await made.locator('code').innerText()).trim();
    expect((await auditOf('dewi', 'operator.create'))['reason']).to.equal(reason);

    // The user agent must appear as text and never be parsed as HTML.
    const stranger = consoleClient(shop.stack.baseUrl, '198.51.100.77');
    const login = await stranger.get('/admin/login');
    const given = { username: 'dewi', password: shown, _csrf: csrfIn(login.text) };
    const agent = { 'user-agent': '<img src=x onerror=alert(1)>' };
    expect((await stranger.send('POST', '/admin/login', fields(given), agent)).headers['location']).to.equal(
      '/admin',
    );
    await browser.open(page, '/operators', 'Operators');
    await article.getByRole('cell', { name: '<img src=x onerror=alert(1)>' }).waitFor();
    await article.getByRole('cell', { name: /GMT\+7/ }).waitFor();
    await article.getByRole('button', { name: 'Actions' }).click();
    await expectPageToPassChecks(page, 'operators');
    const sessions = article.getByRole('region', { name: 'End sessions' });
    await sessions.getByLabel('Session').selectOption({ index: 1 });
    await sessions.getByLabel('Reason').fill(reason);
    await sessions.getByRole('button', { name: 'End sessions' }).press('Enter');
    await article.getByText('Not logged in anywhere.').waitFor();
    expect((await stranger.get('/admin')).status).to.equal(303);

    await article.getByRole('region', { name: 'Change role' }).getByLabel('Role').selectOption('finance');
    await submitWithPassword(article, 'Change role', { Reason: reason });
    await eventually('the role is stored', async () => (await operatorOf('dewi'))?.['role'] === 'finance');
    expect((await auditOf('dewi', 'operator.role'))['actor']).to.equal(`operator:${name}`);
    await submitWithPassword(article, 'Reset password', { Reason: reason });
    const other = article.getByRole('status').filter({ hasText: 'Password of dewi' }).locator('code');
    const fresh = (await other.innerText()).trim();
    expect(fresh).to.not.equal(shown);
    const again = consoleClient(shop.stack.baseUrl, '198.51.100.78');
    expect((await again.login('dewi', fresh)).headers['location']).to.equal('/admin');
    await submitWithPassword(article, 'Remove operator', { Reason: reason });
    await article.waitFor({ state: 'detached' });
    expect(await operatorOf('dewi')).to.equal(null);

    const table = page.getByRole('table', { name: 'Role permissions' });
    const row = table.getByRole('row', { name: /^end the sessions of other operators/ });
    expect((await row.getByRole('cell').allInnerTexts()).map((text) => text.trim())).to.deep.equal([
      'end the sessions of other operators',
      '',
      '',
      '',
      '',
      'yes',
    ]);
  });

  it('a viewer sets up a second factor, changes the password and ends sessions', async () => {
    const { page, name } = await browser.logIn('viewer');
    const elsewhere = consoleClient(shop.stack.baseUrl, '198.51.100.79');
    await elsewhere.login(name, password);
    await browser.open(page, '/me', 'Your account');
    await expectPageToPassChecks(page, 'me');
    await page.getByText('see your own account, and what each role may do').waitFor();
    await page.getByRole('cell', { name: /\(this session\)$/ }).waitFor();
    const sessions = page.getByRole('region', { name: 'End sessions' });
    await sessions.getByLabel('Session').selectOption({ index: 1 });
    await sessions.getByRole('button', { name: 'End sessions' }).press('Enter');
    await sessions.getByRole('status').waitFor();
    expect((await elsewhere.get('/admin')).status, 'the other session').to.equal(303);

    const wrong = await submitWithPassword(page, 'Change password', {
      'Your current password': 'not the password',
      'New password': 'another long one',
      'Confirm new password': 'another long one',
    });
    await wrong.getByRole('alert').getByText('The password is wrong.').waitFor();
    const fresh = 'another long one';
    const changed = await submitWithPassword(page, 'Change password', {
      'New password': fresh,
      'Confirm new password': fresh,
    });
    await changed.getByRole('status').waitFor();

    await submitWithPassword(page, 'Set up second factor', { 'Your current password': fresh });
    await page.getByRole('img', { name: 'QR code of the key below' }).waitFor();
    await expectPageToPassChecks(page, 'me-second-factor');
    const key = page.getByRole('region', { name: 'Scan this with an authenticator app' }).locator('code');
    const secret = (await key.innerText()).replaceAll(' ', '');
    const confirm = page.getByRole('region', { name: 'Confirm second factor' });
    await confirm
      .getByLabel('Authenticator code')
      .fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate());
    await confirm.getByRole('button', { name: 'Confirm second factor' }).press('Enter');
    const codes = page.getByRole('status').filter({ hasText: 'Recovery codes. They are shown only once' });
    await codes.waitFor();
    const shown = await codes.locator('code').allInnerTexts();
    expect(shown).to.have.length(10);
    const made = page.getByRole('region', { name: 'Create command line key' });
    const code = 'Authenticator code or recovery code';
    await made.getByLabel(code).waitFor();
    await submitWithPassword(page, 'Create command line key', {
      'Your current password': fresh,
      [code]: shown[0] ?? '',
    });
    await page.getByText(/^op_[\w-]{43}$/).waitFor();
    // Nine recovery codes are left.
    await page.getByText('9', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(/\/admin\/login$/);
  });

  it('leads to the login after the end of the session, in Indonesian too', async () => {
    const { page, name } = await browser.logIn('support', 'id-ID');
    await page.setViewportSize({ width: 375, height: 800 });
    await browser.open(page, '/me', 'Akun Anda');
    await page.getByText('menutup kasus').waitFor();
    await expectPageToPassChecks(page, 'me-375-id');
    const sessions = page.getByRole('region', { name: 'Akhiri sesi' });
    await sessions.getByRole('button', { name: 'Akhiri sesi' }).press('Enter');
    await page.waitForURL(/\/admin\/login$/);
    await auditOf(name, 'operator.end-sessions');
  });

  itStaysLocal(() => browser);
});
