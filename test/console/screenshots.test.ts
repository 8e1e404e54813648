/**
 * Screenshots of every page of the console and the portal. `npm run screenshots` writes them to
 * docs/images.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { pagesWith, startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { waitUntilLoaded } from './support/wait-until-loaded.js';
import { describeWith } from '../support/require-tool.js';

const folder = process.env['SCREENSHOTS'] ?? '';

(folder !== '' ? describe : describe.skip)('screenshots', () => {
  describeWith('chromium', 'in a browser', function () {
    this.timeout(300_000);
    let shop: OperatedStack;
    let browser: ConsoleBrowser;
    let sold: string;

    before(async () => {
      await mkdir(folder, { recursive: true });
      shop = await startOperatedStack();
      browser = await startConsoleBrowser(shop);
      for (let n = 0; n < 5; n++) {
        sold = await shop.buySuccessfully();
      }
      await shop.buyUnderReview();
      await shop.askForDeposit(250_000);
      await shop.askForSettlement({ amount: 120_000, accountNumber: '1234567890' });
    });
    after(async () => {
      await browser.close();
      await shop.stack.stop();
    });

    const picture = (page: Page, name: string, fullPage = true) =>
      page.screenshot({ path: join(folder, `${name}.png`), fullPage });

    it('show the console, and its first page on a phone', async () => {
      const { page } = await browser.logIn('admin');
      const job = await shop.addUnreadableJob();
      for (const [path, heading] of pagesWith({ purchase: sold, job }, 'admin')) {
        await browser.open(page, path, heading);
        const [, first = '', second = ''] = (path.split('?')[0] ?? '').split('/');
        const name = [first === '' ? 'today' : first, ...(second === '' ? [] : ['one'])].join('-');
        await picture(page, `console-${name}`);
      }
      await page.setViewportSize({ width: 375, height: 800 });
      await browser.open(page, '', 'Today');
      await picture(page, 'console-today-phone', false);
    });

    it('show the portal', async () => {
      const { page } = await browser.logIn('viewer');
      await page.goto(`${shop.stack.baseUrl}/portal`);
      await page.getByLabel('API key').fill(shop.accounts['buyer']?.api_key ?? '');
      await page.getByRole('button', { name: 'Sign in' }).press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      for (const [path, heading] of [
        ['', 'Overview'],
        ['/requests', 'Requests'],
        ['/webhooks', 'Webhooks'],
        ['/statement', 'Statement'],
        ['/sandbox', 'Sandbox'],
        ['/settings', 'Settings'],
      ] as const) {
        await page.goto(`${shop.stack.baseUrl}/portal${path}`);
        await waitUntilLoaded(page, heading);
        await picture(page, `portal-${path === '' ? 'overview' : path.slice(1)}`);
      }
    });
  });
});
