/** The pages at /docs in a real browser on a phone: layout, search, and trying calls. */
import { expect } from 'chai';
import { chromium, type Browser, type Page, type Request } from 'playwright-core';
import { hmacSign } from '../api/support/reseller.js';
import { docsMap } from '../../src/api/docs/docs-map.js';
import { chromiumArgs, findChromium } from '../console/support/chromium.js';
import { expectPageToPassChecks } from '../console/support/check-page.js';
import { uniqueRef } from '../support/api-client.js';
import { startStack, type Stack } from '../support/stack.js';
import { describeWith } from '../support/require-tool.js';

describeWith('chromium', '/docs in a browser', function () {
  this.timeout(90_000);
  let stack: Stack;
  let browser: Browser;
  let page: Page;
  let key: string;
  const outside: string[] = [];
  const reports: string[] = [];

  before(async () => {
    [stack, browser] = await Promise.all([
      startStack(),
      chromium.launch({ executablePath: findChromium() ?? '', args: chromiumArgs }),
    ]);
    key = (await stack.seed())['buyer']?.api_key ?? '';
    const context = await browser.newContext({ viewport: { width: 375, height: 812 }, isMobile: true });
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('request', (request) => {
      if (!request.url().startsWith(`${stack.baseUrl}/`) && !request.url().startsWith('data:')) {
        outside.push(request.url());
      }
    });
    page.on('console', (message) => {
      if (message.type() === 'error') {
        reports.push(message.text());
      }
    });
    page.on('pageerror', (error) => reports.push(String(error)));
  });
  after(async () => {
    await browser.close();
    await stack.stop();
  });

  /**
   * Opens a page and runs the page checks.
   * @param exclude Selectors for common parts, which another test checks.
   */
  async function openAndCheck(path: string, exclude: string[] = []): Promise<void> {
    const response = await page.goto(`${stack.baseUrl}${path}`);
    expect(response?.status(), path).to.equal(200);
    await expectPageToPassChecks(page, `docs${path.replaceAll('/', '-')}`, exclude);
  }

  for (const { name, title } of docsMap.flatMap(({ pages }) => pages)) {
    it(`${title}: passes the page checks on a phone`, () => openAndCheck(`/docs/${name}`, ['.sidebar']));
  }

  it('the map, the list of calls and a call pass the page checks on a phone', async () => {
    for (const path of ['/', '/docs', '/docs/reference', '/docs/reference/createBuyerReport']) {
      await openAndCheck(path);
    }
  });

  it('every link and heading resolves', async () => {
    const texts = new Map<string, string>();
    const textOf = async (path: string): Promise<string> => {
      const known = texts.get(path);
      if (known !== undefined) {
        return known;
      }
      const answer = await fetch(`${stack.baseUrl}${path}`);
      expect(answer.status, path).to.equal(200);
      const text = await answer.text();
      texts.set(path, text);
      return text;
    };
    const pages = docsMap.flatMap((group) => group.pages.map(({ name }) => `/docs/${name}`));
    const paths = ['/', '/docs', ...pages, '/docs/reference', '/docs/reference/createBuyerTransaction'];
    const links = new Set<string>();
    for (const path of paths) {
      for (const [, href = ''] of (await textOf(path)).matchAll(/<a[^>]* href="([/#][^"]*)"/g)) {
        links.add(href.startsWith('#') ? `${path}${href}` : href);
      }
    }
    expect([...links].filter((each) => each.startsWith('/docs/reference/')).length).to.be.greaterThan(60);
    for (const link of [...links].filter((each) => each !== '/admin')) {
      const [path = '', id] = link.split('#');
      const text = await textOf(path);
      expect(id === undefined || text.includes(`id="${id}"`), link).to.equal(true);
    }
  });

  it("finds a call by search, shows this service's URL and sends it with a key", async () => {
    await page.goto(`${stack.baseUrl}/docs`);
    await page.getByRole('searchbox').fill('wallet balance');
    await page.getByRole('searchbox').press('Enter');
    await page.locator('main a[href="/docs/reference/getBuyerBalance"]').click();
    await page.getByRole('heading', { level: 1, name: 'Wallet balance' }).waitFor();
    const openApi = (await (await fetch(`${stack.baseUrl}/openapi.json`)).json()) as {
      servers: { url: string }[];
    };
    expect(await page.locator('pre').first().innerText()).to.include(
      `'${openApi.servers[0]?.url ?? ''}/api/buyer/balance'`,
    );
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Send' }).press('Enter');
    await page
      .getByLabel('Response')
      .filter({ hasText: /HTTP 200[^]*"currency": "IDR"/ })
      .waitFor();
    // Open a call with a path parameter. The API key is in the URL fragment, as `npm start` prints
    // it, and is kept in the session storage of the tab.
    await page.evaluate('sessionStorage.clear()');
    await page.goto(`${stack.baseUrl}/docs/reference/getBuyerTransaction#key=${key}`);
    expect(page.url()).to.not.include(key);
    // Without the path parameter the URL would be that of another call, so the page sends nothing.
    await page.getByRole('button', { name: 'Send' }).press('Enter');
    expect(await page.getByLabel('Response').innerText()).to.equal('');
    await page.getByLabel('ref *').fill('no/such order');
    await page.getByRole('button', { name: 'Send' }).press('Enter');
    await page
      .getByLabel('Response')
      .filter({ hasText: /HTTP 404[^]*"reason": "not_found"/ })
      .waitFor();
    expect(reports.splice(0).filter((each) => !each.includes('404'))).to.deep.equal([]);
  });

  it('signs each reseller call in the page and never sends the key', async () => {
    const sent: string[] = [];
    const watch = async (request: Request) => {
      sent.push([request.url(), JSON.stringify(await request.allHeaders()), request.postData()].join('\n'));
    };
    const watching: Promise<void>[] = [];
    const listen = (request: Request) => void watching.push(watch(request));
    page.on('request', listen);
    const refId = uniqueRef('a.b:c');
    for (const [operationId, values, covers] of [
      ['getResellerBalance', {}, 'depo'],
      ['getResellerPriceList', { operator: 'Telkomsel' }, 'pricelist'],
      [
        'createResellerRequest',
        { code: 'NO-SUCH', customer: '0812 3456&é{code}', ref_id: refId },
        `NO-SUCH|0812 3456&é{code}|${refId}`,
      ],
    ] as const) {
      await page.goto(`${stack.baseUrl}/docs/reference/${operationId}`);
      await page.getByLabel('API key').fill(key);
      await page.getByLabel('username *').fill('buyer');
      for (const [name, value] of Object.entries(values)) {
        await page.getByLabel(new RegExp(`^${name}( \\*)? *$`)).fill(value);
      }
      await page.getByRole('button', { name: 'Send' }).press('Enter');
      const answer = page.getByLabel('Response').filter({ hasText: /HTTP 200/ });
      await answer.waitFor();
      // The order has a correct sign. It is refused because of its product.
      expect(await answer.innerText(), operationId).to.match(
        operationId === 'createResellerRequest' ? /"status": "02"/ : /"status": "00"/,
      );
      expect(await page.getByLabel('sign *').inputValue()).to.equal(
        hmacSign({ username: 'buyer', key }, covers),
      );
      await expectPageToPassChecks(page, `docs-reference-${operationId}`);
    }
    // Without an API key, the page sends the sign that the user entered.
    await page.goto(`${stack.baseUrl}/docs/reference/getResellerBalance`);
    await page.getByLabel('API key').fill('');
    await page.getByLabel('username *').fill('buyer');
    await page.getByLabel('sign *').fill('0'.repeat(64));
    await page.getByRole('button', { name: 'Send' }).press('Enter');
    await page
      .getByLabel('Response')
      .filter({ hasText: /"reason": "invalid_sign"/ })
      .waitFor();
    page.off('request', listen);
    await Promise.all(watching);
    expect(sent.filter((each) => each.includes('/api/reseller/'))).to.have.lengthOf(4);
    expect(sent.filter((each) => each.includes(key))).to.deep.equal([]);
    expect(reports.splice(0)).to.deep.equal([]);
  });

  it('loads nothing external, runs no inline script and escapes the query', async () => {
    const response = await page.goto(
      `${stack.baseUrl}/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`,
    );
    const policy = response?.headers()['content-security-policy'] ?? '';
    expect(policy)
      .to.include("script-src 'self';")
      .and.not.match(/unsafe|https?:/);
    expect(await page.locator('script:not([src])').count()).to.equal(0);
    await page.getByText('No results.').waitFor();
    expect(outside).to.deep.equal([]);
    expect(reports).to.deep.equal([]);
  });
});
