/** The markup and price list pages in a real browser, with the real service. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { addProduct } from '../providers/provider-stack.js';
import { uniqueRef } from '../support/api-client.js';
import { workbookOf } from '../providers/imports/workbook.js';
import { act, itStaysLocal, startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { expectPageToPassChecks } from './support/check-page.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

describeWith('chromium', 'prices in a browser', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let browser: ConsoleBrowser;
  let page: Page;
  let sellerId: string;

  before(async () => {
    shop = await startOperatedStack();
    browser = await startConsoleBrowser(shop);
    ({ page } = await browser.logIn('finance'));
    sellerId = String((await shop.stack.db.collection('accounts').findOne({ username: 'seller' }))?._id);
  });
  after(async () => {
    await browser.close();
    await shop.stack.stop();
  });

  async function priceOf(code: string): Promise<number> {
    const body = { product_code: code, destination: '081234561230', ref_id: uniqueRef() };
    const answer = await shop.buyer.post('/v1/transactions', body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body.data.price as number;
  }

  it('sets a markup of a product for one buyer, shows it and removes it', async () => {
    const code = await addProduct(shop.stack, [{ sellerId, price: 10_000 }]);
    await page.setViewportSize({ width: 375, height: 800 });
    await browser.open(page, '/markups', 'Markups');
    const form = page.getByRole('region', { name: 'Set markup' });
    await form.getByLabel('Buyer').fill('buyer');
    await form.getByLabel('Applies to').selectOption('product');
    await form.getByLabel('Product code').fill(code);
    await form.getByLabel('Unit', { exact: true }).selectOption('percent');
    await form.getByLabel('Markup').fill('1.25');
    await act(page, 'Set markup');
    await page.getByRole('cell', { name: '1.25 %' }).waitFor();
    await expectPageToPassChecks(page, 'markups at 375 px');
    expect(await priceOf(code)).to.equal(10_125);
    await act(page, 'Remove markup');
    await page.getByText('No markups match.').waitFor();
    expect(await priceOf(code)).to.equal(10_000);
    await page.setViewportSize({ width: 1_280, height: 800 });
  });

  it('puts a buyer into a price group with a markup, by keyboard on a phone', async () => {
    const code = await addProduct(shop.stack, [{ sellerId, price: 10_000 }]);
    await page.setViewportSize({ width: 375, height: 800 });
    await browser.open(page, '/accounts/buyer', 'buyer');
    const own = page.getByRole('region', { name: 'Set price group' });
    await own.getByLabel('Price group').fill('grosir');
    await act(page, 'Set price group');
    const named = page.getByRole('link', { name: 'grosir' });
    await named.waitFor();
    await expectPageToPassChecks(page, 'an account in a price group at 375 px');
    await named.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Markups' }).waitFor();
    const form = page.getByRole('region', { name: 'Set markup' });
    await form.getByLabel('Price group').fill('grosir');
    await form.getByLabel('Applies to').selectOption('product');
    await form.getByLabel('Product code').fill(code);
    await form.getByLabel('Markup').fill('150');
    await act(page, 'Set markup');
    await page.getByRole('cell', { name: 'Price group grosir' }).waitFor();
    const groups = page.getByRole('table', { name: 'Price groups' });
    await expectPageToPassChecks(page, 'price groups at 375 px');
    expect(await priceOf(code)).to.equal(10_150);
    await groups.getByRole('link', { name: '1', exact: true }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
    await page.getByRole('link', { name: 'buyer', exact: true }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'buyer' }).waitFor();
    await own.getByLabel('Price group').fill('');
    await act(page, 'Set price group');
    await named.waitFor({ state: 'detached' });
    expect(await priceOf(code)).to.equal(10_000);
    await browser.open(page, '/markups', 'Markups');
    await act(page, 'Remove markup');
    await page.getByText('No price groups yet.').waitFor();
    await page.setViewportSize({ width: 1_280, height: 800 });
  });

  it("previews a provider's price list and creates its products", async () => {
    const offers = shop.stack.db.collection('offers');
    await shop.stack.db.collection<{ _id: string }>('products').deleteMany({ _id: /^SM/ });
    await offers.deleteMany({ productCode: /^SM/ });
    await browser.open(page, '/providers/seller3', 'seller3');
    const part = page.getByRole('region', { name: 'Import products' });
    await part.getByLabel('Code or name contains').fill('smartfren');
    await part.getByLabel('Margin in %').fill('5');
    await part.getByRole('button', { name: 'Preview' }).press('Enter');
    await part.getByRole('cell', { name: 'SM10', exact: true }).first().waitFor();
    await part.getByRole('cell', { name: 'Rp 10.700' }).waitFor();
    await expectPageToPassChecks(page, 'a preview of a catalogue');
    await page.setViewportSize({ width: 375, height: 800 });
    await expectPageToPassChecks(page, 'a preview of a catalogue at 375 px');
    await page.setViewportSize({ width: 1_280, height: 800 });
    await act(page, 'Create and change products');
    await part.getByRole('status').filter({ hasText: /\S/ }).first().waitFor();
    const created = await offers.find({ sellerId: { $ne: sellerId }, productCode: /^SM/ }).toArray();
    expect(created.map(({ status }) => String(status))).to.deep.equal(Array(6).fill('active'));
  });

  it('previews a price list, applies it, shows the history and undoes it', async () => {
    const code = await addProduct(shop.stack, [{ sellerId, price: 10_000 }]);
    await browser.open(page, '/price-imports', 'Price lists');
    const buffer = workbookOf([
      ['code', 'seller', 'price', 'cost'],
      [code, 'seller', 10_500, 10_400],
      ['none-such', 'seller', 1, null],
    ]);
    const mimeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
    await page.locator('input[type=file]').setInputFiles({ name: 'list.xlsx', mimeType, buffer });
    await page.getByRole('button', { name: 'Preview' }).press('Enter');
    await page.getByRole('cell', { name: 'Rp 10.000 → Rp 10.500' }).waitFor();
    await page.getByText('There is no such product.').waitFor();
    await expectPageToPassChecks(page, 'a preview');
    await act(page, 'Apply price list');
    await page.getByRole('alert').getByText('would lose money at 1 lines').waitFor();
    await page.getByLabel('Apply also where a sale loses money (1)').check();
    await page.getByRole('button', { name: 'Apply price list' }).press('Enter');
    await page.getByRole('cell', { name: 'list.xlsx' }).waitFor();
    await page.setViewportSize({ width: 375, height: 800 });
    await expectPageToPassChecks(page, 'imports at 375 px');
    expect(await priceOf(code)).to.equal(10_500);
    await act(page, 'Undo import');
    await page.getByRole('cell', { name: 'undone' }).waitFor();
    expect(await priceOf(code)).to.equal(10_000);
    await browser.open(page, `/products/${code}`, code);
    const history = page.getByRole('table', { name: 'Offer history' });
    await history.getByRole('cell', { name: '10.500' }).waitFor();
    await expectPageToPassChecks(page, 'a product with its history at 375 px');
  });

  it('a fivefold price needs confirmation, and one above the maximum is refused', async () => {
    const code = await addProduct(shop.stack, [{ sellerId, price: 10_000 }]);
    await browser.open(page, '/price-imports', 'Price lists');
    const buffer = Buffer.from(`code,seller,price\n${code},seller,105000\nS10,seller,1000000000\n`);
    await page.locator('input[type=file]').setInputFiles({ name: 'rises.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Preview' }).press('Enter');
    await page.getByRole('cell', { name: 'rises fivefold or more' }).waitFor();
    await page.getByText('The price is above Rp 999.999.999.').waitFor();
    await act(page, 'Apply price list');
    await page.getByRole('alert').getByText('would rise to five times or more at 1 lines').waitFor();
    await page.getByLabel('or rises fivefold or more (1)').check();
    await page.getByRole('button', { name: 'Apply price list' }).press('Enter');
    await page.getByRole('cell', { name: 'rises.csv' }).waitFor();
    expect(await priceOf(code)).to.equal(105_000);
  });

  itStaysLocal(() => browser);
});
