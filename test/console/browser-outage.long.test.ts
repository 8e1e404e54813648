/**
 * The console in a real browser during a Redis outage. It marks stale data and recovers by itself.
 */
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { startTcpGate, type TcpGate } from '../support/outage.js';
import { startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

const limitMs = 40_000;
/** Response delay in milliseconds. Longer than the page waits between polls. */
const slowMs = 7_000;

describeWith('chromium', 'the console during an outage', function () {
  this.timeout(180_000);
  let gate: TcpGate;
  let shop: OperatedStack;
  let browser: ConsoleBrowser;

  before(async () => {
    gate = await startTcpGate(process.env['REDIS_URL'] ?? '');
    shop = await startOperatedStack({ REDIS_URL: gate.url });
    browser = await startConsoleBrowser(shop);
  });
  after(async () => {
    await gate.restore();
    await browser.close();
    await shop.stack.stop();
    await gate.stop();
  });

  it('marks data as old, reports no check as healthy, and recovers by itself', async () => {
    const { page: system } = await browser.logIn('admin');
    const [today, late] = [await system.context().newPage(), await system.context().newPage()];
    await browser.open(system, '/system', 'System');
    await browser.open(today, '', 'Today');
    const checks = system.getByRole('heading', { name: 'Checks', exact: true });
    await checks.waitFor({ timeout: limitMs });
    const old = today.getByRole('status').filter({ hasText: 'Not up to date' });
    expect(await old.count()).to.equal(0);

    const calls = '**/admin/api/**';
    await system.route(calls, (route) =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
    );
    await system
      .getByRole('alert')
      .filter({ hasText: 'The service did not respond.' })
      .waitFor({ timeout: limitMs });
    await system.unroute(calls);
    // Delay each response for longer than the page waits between polls.
    await system.route(calls, async (route) => {
      await setTimeout(slowMs);
      await route.continue();
    });
    await checks.waitFor({ timeout: limitMs });
    await system.unrouteAll({ behavior: 'wait' });

    gate.hang();
    const advice = /run topup doctor|topup doctor says/;
    await system.getByRole('alert').filter({ hasText: advice }).waitFor({ timeout: limitMs });
    expect(await checks.count()).to.equal(0);
    expect(await system.getByText(/checks passed/).count()).to.equal(0);
    await old.filter({ hasText: advice }).waitFor({ timeout: limitMs });
    // The session is in Redis. Without it the caller is unknown, so the server itself renders the
    // error page.
    await late.goto(`${shop.stack.baseUrl}/admin/purchases`);
    await late.getByText(advice).waitFor({ timeout: limitMs });

    await gate.restore();
    await late.getByRole('heading', { level: 1, name: 'Purchases' }).waitFor({ timeout: limitMs });
    await checks.waitFor({ timeout: limitMs });
    await old.waitFor({ state: 'detached', timeout: limitMs });
    expect(browser.reports.filter((each) => !/50[23]/.test(each))).to.deep.equal([]);
  });
});
