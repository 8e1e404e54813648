/** Chromium with the console open in it, for operators of any role, with what it asked of others and what its policy refused. */
import { chromium, type Locator, type Page } from 'playwright-core';
import type { OperatorRole } from '../../../src/operators/rights.js';
import { eventually } from '../../support/eventually.js';
import { reason } from './console-caller.js';
import { chromiumArgs, findChromium } from './chromium.js';
import { password, type OperatedStack } from './operated-stack.js';

export const chromiumProgram = findChromium();

/** Every page that a viewer sees, with its heading in English and Indonesian. */
export const pagesWith = (purchase: string): [string, string | RegExp, string | RegExp][] => [
  ['', 'Today', 'Hari ini'],
  ['/purchases', 'Purchases', 'Transaksi'],
  [`/purchases/${purchase}`, /S10/, /S10/],
  ['/cases', 'Cases', 'Kasus'],
  ['/deposits?status=all', 'Deposits', 'Deposit'],
  ['/settlements?status=all', 'Settlements', 'Pencairan'],
  ['/products', 'Products', 'Produk'],
  ['/products/S10', 'S10', 'S10'],
  ['/providers', 'Providers', 'Provider'],
  ['/providers/seller', 'seller', 'seller'],
  ['/webhooks?account=buyer', 'Webhooks', 'Webhook'],
  ['/ledger', 'Ledger', 'Buku besar'],
  ['/system', 'System', 'Sistem'],
  ['/accounts', 'Accounts', 'Akun'],
  ['/accounts/buyer', 'buyer', 'buyer'],
];

export interface ConsoleBrowser {
  logIn(role: OperatorRole, locale?: string): Promise<{ page: Page; name: string }>;
  open(page: Page, path: string, heading: string | RegExp): Promise<void>;
  /** Requests that left the origin. */
  outside: string[];
  /** Mistakes of pages, and what their policy refused. */
  reports: string[];
  close(): Promise<void>;
}

export async function startConsoleBrowser(shop: OperatedStack): Promise<ConsoleBrowser> {
  const browser = await chromium.launch({ executablePath: chromiumProgram ?? '', args: chromiumArgs });
  const outside: string[] = [];
  const reports: string[] = [];
  return {
    outside,
    reports,
    async logIn(role, locale = 'en-GB') {
      const name = await shop.addOperator(role);
      const context = await browser.newContext({
        locale,
        timezoneId: 'America/New_York',
        reducedMotion: 'reduce',
        viewport: { width: 1_280, height: 900 },
      });
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      page.on('request', (request) => {
        if (!request.url().startsWith(`${shop.stack.baseUrl}/`) && !request.url().startsWith('data:')) {
          outside.push(request.url());
        }
      });
      page.on('console', (message) => {
        if (/content security policy/i.test(message.text())) {
          reports.push(message.text());
        }
      });
      page.on('pageerror', (error) => reports.push(String(error)));
      await page.goto(`${shop.stack.baseUrl}/admin/login`);
      await page.getByLabel('Username').fill(name);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { level: 1, name: /^(Today|Hari ini)$/ }).waitFor();
      return { page, name };
    },
    async open(page, path, heading) {
      await page.goto(`${shop.stack.baseUrl}/admin${path}`);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await eventually('it to be loaded', async () => (await page.getByRole('progressbar').count()) === 0);
    },
    close: () => browser.close(),
  };
}

/** Fills in why, presses the button of a form, and waits until it says that it is done. */
export async function act(where: Page | Locator, title: string): Promise<void> {
  const form = where.getByRole('region', { name: title });
  await form.getByLabel('Reason').fill(reason);
  // By the keyboard: what comes of the change before moves the page under a mouse.
  await form.getByRole('button', { name: title }).press('Enter');
}
