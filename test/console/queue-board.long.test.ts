/** Bull board: links to the console, queue descriptions and permissions. */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { connectTo, readUntilClose } from '../support/raw-connection.js';
import { startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { callerAs, type Caller } from './support/console-caller.js';
import { expectPageToPassChecks } from './support/check-page.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

/**
 * Selectors for accessibility problems of Bull board itself: icons without names and low-contrast
 * greys.
 */
const boardSelectors = [
  'button:not([aria-label])',
  'svg[role="img"]',
  'small',
  '[class*="searchShortcut-"]',
  '[class*="description-"]',
  '[class*="queueName-"]',
  '[class*="nullValue-"]',
];

describe('Bull board in the console', function () {
  this.timeout(90_000);
  let shop: OperatedStack;
  let caller: Caller;

  before(async () => {
    shop = await startOperatedStack();
    caller = await callerAs(shop, 'viewer');
  });
  after(() => shop.stack.stop());

  async function fetchBoardQueues(query: string): Promise<BoardQueue[]> {
    const { text } = await caller.client.get(`/admin/queues/api/queues?${query}`, { accept: '*/*' });
    return (JSON.parse(text) as { queues: BoardQueue[] }).queues;
  }

  it('links a job to its purchase or to its page in the console', async () => {
    await shop.buySuccessfully();
    const links = await eventually('both kinds of jobs are listed', async () => {
      const names = (await fetchBoardQueues('')).map(({ name }) => name);
      const queues = await Promise.all(
        names.map((name) => fetchBoardQueues(`activeQueue=${name}&status=completed&page=1&jobsPerPage=20`)),
      );
      const found = queues.flat().flatMap(({ jobs }) => jobs);
      const hrefs = found.flatMap(({ externalUrl }) => externalUrl?.href ?? []);
      const ofPurchase = hrefs.find((href) => href.startsWith('/admin/purchases/'));
      const ofJob = hrefs.find((href) => href.endsWith('%40sellerPostings'));
      return ofPurchase !== undefined && ofJob !== undefined ? { ofPurchase, ofJob } : null;
    });
    const id = links.ofPurchase.slice('/admin/purchases/'.length);
    expect((await caller.ask('getPurchase', `/purchases/${id}`)).purchase.id).to.equal(id);
    const job = await caller.ask('getJob', `/jobs/${links.ofJob.slice('/admin/jobs/'.length)}`);
    expect(job.job.queue).to.equal('sellerPostings');
  });

  it('shows how many deliveries wait and which process serves each queue', async () => {
    const deliveries = shop.stack.db.collection('deliveries');
    const [sold] = await deliveries.find().limit(1).toArray();
    const later = new Date(Date.now() + 3_600_000);
    await eventually(
      'no other delivery waits',
      async () => (await deliveries.countDocuments({ state: 'due' })) === 0,
    );
    const rows = [1, 2, 3].map((n) => ({
      ...sold,
      _id: `waits-${n}` as never,
      state: 'due',
      nextAttemptAt: later,
      leaseToken: null,
      orderKey: null,
    }));
    await deliveries.insertMany(rows);
    await eventually(
      'the description has the count',
      async () => {
        const queue = (await fetchBoardQueues('')).find(({ name }) => name === 'webhooks');
        return queue?.description.includes(' 3 deliveries wait in MongoDB');
      },
      20_000,
    );
    for (const { description } of await fetchBoardQueues('')) {
      expect(description).to.match(/Processed by [a-z-]+\. Its health is on \/admin\/system/);
    }
    const page = await caller.client.get('/admin/queues');
    expect(page.text).to.include('/admin/system').and.to.include('/admin/webhooks');
  });

  it('shows details of Redis only to roles that see settings', async () => {
    const stats = async ({ client }: Caller) =>
      client.get('/admin/queues/api/redis/stats', { accept: '*/*' });
    const hidden = await stats(caller);
    expect([hidden.status, /version|"os"/.test(hidden.text)], hidden.text).to.deep.equal([403, false]);
    const page = await caller.client.get('/admin/queues');
    expect([page.status, page.text.includes('"hideRedisDetails":true')]).to.deep.equal([200, true]);
    const operations = await callerAs(shop, 'operations');
    expect(JSON.parse((await stats(operations)).text).version).to.be.a('string');
    expect((await operations.client.get('/admin/queues')).text).to.include('"hideRedisDetails":false');
  });

  it('accepts only whole numbers as concurrency, and 0 removes the limit', async () => {
    const admin = await callerAs(shop, 'admin');
    const url = '/admin/queues/api/queues/reports/concurrency';
    const put = (body: object) => admin.client.send('PUT', url, JSON.stringify(body), admin.withToken());
    const limitOf = async () =>
      (await fetchBoardQueues('')).find(({ name }) => name === 'reports')?.globalConcurrency;
    expect((await put({ concurrency: 3 })).status).to.equal(200);
    expect(await limitOf()).to.equal(3);
    for (const wrong of [-1, 1.5, '2', null, undefined]) {
      const answer = await put({ concurrency: wrong });
      expect(answer.status, `${wrong} ${answer.text}`).to.equal(400);
    }
    expect(await limitOf()).to.equal(3);
    expect((await put({ concurrency: 0 })).status).to.equal(200);
    expect(await limitOf()).to.equal(null);
    const done = await shop.stack.db
      .collection('audit')
      .findOne(
        { actor: `operator:${admin.username}`, action: 'queue.concurrency.done' },
        { sort: { at: -1, _id: -1 } },
      );
    expect([done?.['before'].concurrency, done?.['after'].concurrency]).to.deep.equal([3, 'no limit']);
  });

  it('ignores a change whose body is truncated or not JSON', async () => {
    const admin = await callerAs(shop, 'admin');
    const cookies = ['topup_admin', 'XSRF-TOKEN'].map((name) => `${name}=${admin.client.cookie(name) ?? ''}`);
    const { port } = new URL(shop.stack.baseUrl);
    const heardOf = async (type: string, rest: string): Promise<string> => {
      const socket = await connectTo(port);
      const reply = readUntilClose(socket);
      const headers = { ...admin.withToken(), cookie: cookies.join('; '), 'content-type': type };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(
        `PUT /admin/queues/api/queues/reports/pause HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.join('')}Transfer-Encoding: chunked\r\n\r\n5\r\n{"rea\r\n`,
      );
      // Send the rest of the request while the server authenticates it.
      setImmediate(() => socket.write(rest));
      return (await reply).slice(9, 12);
    };
    for (let round = 0; round < 10; round += 1) {
      expect(await heardOf('application/json', 'ZZ\r\n')).to.equal('400');
      expect(await heardOf('text/plain', '0\r\n\r\n')).to.equal('415');
    }
    expect((await fetchBoardQueues('')).find(({ name }) => name === 'reports')?.isPaused).to.equal(false);
  });
});

describeWith('chromium', 'the Bull board in a browser', function () {
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

  it('the login, the queue descriptions and the links pass the page checks', async () => {
    const { page } = await browser.logIn('operations');
    await page.goto(`${shop.stack.baseUrl}/admin/queues/queue/webhooks`);
    const words = page.getByText(/Processed by/).first();
    await words.waitFor({ state: 'attached' });
    await expectPageToPassChecks(page, 'queues', boardSelectors);
    await page.setViewportSize({ width: 375, height: 800 });
    await expectPageToPassChecks(page, 'queues at 375 px', boardSelectors);
    await page.context().clearCookies();
    await page.goto(`${shop.stack.baseUrl}/admin/queues`);
    await page.waitForURL(/\/admin\/login$/);
    await expectPageToPassChecks(page, 'login before the queues');
  });
});

interface BoardQueue {
  name: string;
  description: string;
  globalConcurrency: number | null;
  isPaused: boolean;
  jobs: { externalUrl?: { href: string } }[];
}
