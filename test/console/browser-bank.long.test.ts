/** The bank statement pages in a real browser, with the real service. */
import { expect } from 'chai';
import { DateTime } from 'luxon';
import type { Page } from 'playwright-core';
import { createUniqueAmount, statementOf } from '../deposits/bank/statement.js';
import { act, itStaysLocal, startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { expectPageToPassChecks } from './support/check-page.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

describeWith('chromium', 'bank statements in a browser', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let browser: ConsoleBrowser;
  let page: Page;

  before(async () => {
    shop = await startOperatedStack();
    browser = await startConsoleBrowser(shop);
    ({ page } = await browser.logIn('finance'));
  });
  after(async () => {
    await browser.close();
    await shop.stack.stop();
  });

  const deposits = () => shop.stack.db.collection<{ _id: string; status: string }>('deposits');
  const statusOf = async (id: string) => (await deposits().findOne({ _id: id }))?.status;
  const rupiah = (amount: number) => `Rp ${new Intl.NumberFormat('id-ID').format(amount)}`;
  const upload = async (statement: string) => {
    const file = { name: 'bca.csv', mimeType: 'text/csv', buffer: Buffer.from(statement) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Preview' }).press('Enter');
  };

  it('previews a statement, confirms matches and amounts, and lists the rest', async () => {
    const [one, two, unknown] = [createUniqueAmount(), createUniqueAmount(), createUniqueAmount()];
    const [named, alone] = [await shop.askForDeposit(one), await shop.askForDeposit(two)];
    const day = DateTime.now().setZone('Asia/Jakarta').toFormat('dd/MM/yyyy');
    const unread = `\r\n${day};KOREKSI BIAYA;5000;\r\n;SALDO AKHIR;;\r\n${day};KURS;;USD 5`;
    await browser.open(page, '/bank-lines', 'Bank statements');
    await page.getByText('No lines match.').waitFor();
    await upload('Tanggal;Saldo');
    await page.getByRole('alert').getByText('no heading for the description').waitFor();
    await upload(
      statementOf(
        { amount: one, text: `TRSF CR ${named.refId} BUDI` },
        { amount: two, text: 'SETORAN TUNAI' },
        { amount: unknown, text: 'BUNGA' },
      ) + unread,
    );
    await page.getByRole('cell', { name: "has its client's reference" }).waitFor();
    await page.getByRole('cell', { name: `buyer ${named.refId}` }).waitFor();
    await page.getByRole('cell', { name: 'only the amount matches' }).waitFor();
    await page.getByRole('heading', { name: 'Outgoing lines (1)' }).waitFor();
    for (const title of ['Outgoing lines', 'Corrections by the bank']) {
      await page.getByRole('table', { name: title }).getByText('KOREKSI BIAYA').waitFor();
    }
    await page.getByRole('cell', { name: 'SALDO AKHIR' }).waitFor();
    await page.getByRole('cell', { name: 'The line is not in rupiah' }).waitFor();
    await expectPageToPassChecks(page, 'a preview of a statement');
    await page.setViewportSize({ width: 375, height: 800 });
    await expectPageToPassChecks(page, 'a preview of a statement at 375 px');
    await page.getByLabel(/^Also confirm 1 lines that match only by the reference/).check();
    await page.getByLabel(/^Also confirm 1 lines that match only by the amount/).check();
    await page.getByText(`Credits 2 deposits, ${rupiah(one + two)} in total`).waitFor();
    await act(page, 'Confirm matched deposits');
    await page.getByText('2 deposits were confirmed, 3 lines are new.').waitFor();
    expect([await statusOf(named.id), await statusOf(alone.id)]).to.deep.equal(['completed', 'completed']);
    await page.getByRole('article', { name: new RegExp(`${rupiah(unknown)} BUNGA`) }).waitFor();
    await expectPageToPassChecks(page, 'lines at 375 px');
    await page.setViewportSize({ width: 1_280, height: 900 });
  });

  it('assigns a line to a deposit by hand and sets another aside', async () => {
    const [one, two] = [createUniqueAmount(), createUniqueAmount()];
    await browser.open(page, '/bank-lines', 'Bank statements');
    await upload(statementOf({ amount: one, text: 'SETORAN SITI' }, { amount: two, text: 'BUNGA BANK' }));
    await act(page, 'Confirm matched deposits');
    // Create the deposit after the import. An earlier deposit would change the preview, and the
    // confirmation would then be refused.
    await page.getByText('0 deposits were confirmed, 2 lines are new.').waitFor();
    const late = await shop.askForDeposit(one);
    const card = (amount: number) => page.getByRole('article', { name: new RegExp(`${rupiah(amount)} `) });
    await page.reload();
    await card(one).getByRole('button', { name: 'Actions' }).press('Enter');
    await card(one)
      .getByRole('radio', { name: new RegExp(late.refId) })
      .check();
    await expectPageToPassChecks(page, 'the choice of a deposit');
    await act(card(one), 'Assign line to a deposit');
    await card(one).waitFor({ state: 'detached' });
    expect(await statusOf(late.id)).to.equal('completed');
    await card(two).getByRole('button', { name: 'Actions' }).press('Enter');
    await expectPageToPassChecks(page, 'a line with its actions');
    await act(card(two), 'Set line aside');
    await card(two).waitFor({ state: 'detached' });
    await browser.open(page, '/bank-lines?status=used', 'Bank statements');
    await card(one).getByText(late.id).waitFor();
    await expectPageToPassChecks(page, 'used lines');
  });

  it('hides the page from roles without access, in either language', async () => {
    for (const [role, locale, heading, link, shown] of [
      ['viewer', 'en-GB', 'Today', 'Bank statements', 0],
      ['operations', 'id-ID', 'Hari ini', 'Mutasi bank', 0],
      ['admin', 'id-ID', 'Hari ini', 'Mutasi bank', 1],
    ] as const) {
      const { page: other } = await browser.logIn(role, locale);
      await browser.open(other, '', heading);
      expect(await other.getByRole('link', { name: link, exact: true }).count(), role).to.equal(shown);
      if (shown === 1) {
        await browser.open(other, '/bank-lines', 'Mutasi bank');
        await expectPageToPassChecks(other, 'in Indonesian');
      }
      await other.context().close();
    }
  });

  itStaysLocal(() => browser);
});
