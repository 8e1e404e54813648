/**
 * Chromium with the console, for operators of any role. Records requests to other origins and CSP
 * violations.
 */
import { expect } from 'chai';
import { chromium, type Locator, type Page } from 'playwright-core';
import { isAllowed, type OperatorAction, type OperatorRole } from '../../../src/operators/rights.js';
import { reason } from './console-caller.js';
import { chromiumArgs, findChromium } from './chromium.js';
import { password, type OperatedStack } from './operated-stack.js';
import { waitUntilLoaded } from './wait-until-loaded.js';

type Heading = string | RegExp;

/**
 * Returns every page that a role may see, with its English and Indonesian heading.
 * @param job The id of a failed job.
 */
export const pagesWith = (
  { purchase, job }: { purchase: string; job: string },
  role: OperatorRole = 'viewer',
): [string, Heading, Heading][] => [
  ...commonPages(purchase),
  [`/jobs/${encodeURIComponent(job)}`, 'reports', 'reports'],
  ...restrictedPages
    .filter(({ action }) => isAllowed(role, action))
    .map(({ path, english, indonesian }): [string, Heading, Heading] => [path, english, indonesian]),
];

/** Pages that some roles may not see. */
export const restrictedPages: {
  path: string;
  action: OperatorAction;
  english: string;
  indonesian: string;
}[] = [
  { path: '/audit', action: 'audit.look', english: 'Audit', indonesian: 'Audit' },
  { path: '/bank-lines', action: 'bank-line.look', english: 'Bank statements', indonesian: 'Mutasi bank' },
  { path: '/operators', action: 'operator.look', english: 'Operators', indonesian: 'Operator' },
];

/** Pages that every role may see. */
const commonPages = (purchase: string): [string, Heading, Heading][] => [
  ['', 'Today', 'Hari ini'],
  ['/purchases', 'Purchases', 'Transaksi'],
  [`/purchases/${purchase}`, /S10/, /S10/],
  ['/cases', 'Cases', 'Kasus'],
  ['/deposits?status=all', 'Deposits', 'Deposit'],
  ['/settlements?status=all', 'Settlements', 'Pencairan'],
  ['/adjustments?status=all', 'Adjustments', 'Koreksi saldo'],
  ['/products', 'Products', 'Produk'],
  ['/products/S10', 'S10', 'S10'],
  ['/price-imports', 'Price lists', 'Daftar harga'],
  ['/markups', 'Markups', 'Markup'],
  ['/providers', 'Providers', 'Supplier'],
  ['/providers/seller', 'seller', 'seller'],
  ['/webhooks?account=buyer', 'Webhooks', 'Webhook'],
  ['/ledger', 'Ledger', 'Buku besar'],
  ['/system', 'System', 'Sistem'],
  ['/jobs?queue=webhooks&state=completed', 'Jobs', 'Pekerjaan'],
  [`/jobs?about=${purchase}`, 'Jobs', 'Pekerjaan'],
  ['/accounts', 'Accounts', 'Akun'],
  ['/accounts/buyer', 'buyer', 'buyer'],
  ['/me', 'Your account', 'Akun Anda'],
];

export interface ConsoleBrowser {
  logIn(role: OperatorRole, locale?: string): Promise<{ page: Page; name: string }>;
  /** Loads the page from the server. */
  open: (page: Page, path: string, heading: Heading) => Promise<void>;
  /** Navigates without a page load, as a console link does. That needs much less CPU time. */
  go: (page: Page, path: string, heading: Heading) => Promise<void>;
  /** URLs of requests to other origins. */
  outside: string[];
  /** Page errors and CSP violations. */
  reports: string[];
  close(): Promise<void>;
}

export async function startConsoleBrowser(shop: OperatedStack): Promise<ConsoleBrowser> {
  const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: chromiumArgs });
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
      await waitUntilLoaded(page, heading);
    },
    async go(page, path, heading) {
      await page.evaluate((to) => {
        // The popstate event makes the console's router navigate. A cast is needed, because the
        // tests are compiled without DOM types.
        const { history, dispatchEvent, PopStateEvent } = globalThis as unknown as {
          history: { state: object | null; pushState(state: object | null, title: string, to: string): void };
          dispatchEvent: (event: unknown) => boolean;
          PopStateEvent: new (type: string, options: { state: unknown }) => unknown;
        };
        history.pushState(history.state, '', to);
        dispatchEvent(new PopStateEvent('popstate', { state: history.state }));
      }, `/admin${path}`);
      await waitUntilLoaded(page, heading);
    },
    close: () => browser.close(),
  };
}

/** Tests that the pages of all earlier tests made no external request and violated no CSP rule. */
export function itStaysLocal(browser: () => ConsoleBrowser): void {
  it('loads nothing from other hosts and breaks no rule of its own CSP', () => {
    expect([browser().outside, browser().reports]).to.deep.equal([[], []]);
  });
}

/** Fills in the reason of a form and submits it. */
export async function act(where: Page | Locator, title: string): Promise<void> {
  const form = where.getByRole('region', { name: title });
  await form.getByLabel('Reason').fill(reason);
  // Use the keyboard: the result of an earlier change may shift the page while a mouse is pressed.
  await form.getByRole('button', { name: title }).press('Enter');
}
