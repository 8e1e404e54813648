/**
 * The job, process and settings pages of the console, and a job's search and retry in a browser.
 */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Page } from 'playwright-core';
import { releaseVersion } from '../../config/release.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { topup } from '../support/topup.js';
import { callerAs, reason, type Caller } from './support/console-caller.js';
import { act, startConsoleBrowser, type ConsoleBrowser } from './support/console-browser.js';
import { expectPageToPassChecks } from './support/check-page.js';
import { startOperatedStack, type OperatedStack } from './support/operated-stack.js';
import { describeWith } from '../support/require-tool.js';

describe('jobs, processes and settings in the console', function () {
  this.timeout(120_000);
  let shop: OperatedStack;
  let admin: Caller;
  let support: Caller;

  before(async () => {
    shop = await startOperatedStack();
    [admin, support] = await Promise.all([callerAs(shop, 'admin'), callerAs(shop, 'support')]);
  });
  after(() => shop.stack.stop());

  it('finds open jobs of a purchase, pages a queue and lists queues', async () => {
    const id = await shop.buySuccessfully();
    const { things } = await admin.ask('findJobs', `/jobs/about?about=${id}`);
    expect(things).to.deep.equal([{ kind: 'purchase', id, account: 'buyer' }]);
    const { queues } = await support.ask('listQueues', '/system/queues');
    const fulfilment = queues.find(({ name }: { name: string }) => name === 'fulfilment');
    expect(fulfilment).to.include({ process: 'fulfilment', is_paused: false, workers: 1 });
    expect(fulfilment.kinds).to.deep.equal(['fulfil-purchase']);
    const page = '/jobs?queue=schedules&state=completed&limit=2';
    const first = await support.ask('listJobs', page);
    expect(first.jobs).to.have.length(2);
    expect(first.jobs[0]).to.include({ queue: 'schedules', state: 'completed', refusal: 'done' });
    const second = await support.ask('listJobs', `${page}&after=${first.next}`);
    expect(second.jobs.map((each: { id: string }) => each.id)).to.not.include(first.jobs[1].id);
    await eventually('the queue lists only this kind', async () => {
      const filter = '/jobs?queue=schedules&state=completed&name=sweep-pending-notices';
      const { jobs } = await support.ask('listJobs', filter);
      return jobs.length > 0 && jobs.every(({ name }: { name: string }) => name === 'sweep-pending-notices');
    });
    const one = await support.ask('getJob', `/jobs/${encodeURIComponent(first.jobs[0].id)}`);
    expect(one).to.deep.include({ failures: [], payload: one.payload });
    for (const [path, status] of [
      ['/jobs?queue=nowhere', 404],
      ['/jobs?queue=schedules&after=x&state=completed', 400],
      ['/jobs/nothing@schedules', 404],
      // Keys that belong to the queue itself and are no jobs.
      ['/jobs/id@schedules', 404],
      ['/jobs/meta@schedules', 404],
      ['/jobs/completed@schedules', 404],
    ] as const) {
      expect((await admin.call(path)).status, path).to.equal(status);
    }
  });

  it('retries many jobs in one call with a result and an audit entry each', async () => {
    const [one, other] = [await shop.addUnreadableJob(), await shop.addUnreadableJob()];
    const shown = await support.ask('findJobs', `/jobs/about?about=${one.split(':')[1]}`);
    expect(shown.jobs[0]).to.include({ id: one, state: 'lost', refusal: null, last_error: 'Error: made up' });
    const body = { ids: [one, 'reports:nothing', other], reason };
    expect((await support.call('/jobs/retry', body)).status).to.equal(403);
    expect((await admin.call('/jobs/retry', { ...body, ids: [] })).status).to.equal(400);
    const many = { ...body, ids: Array.from({ length: 101 }, (_, n) => `reports:${n}`) };
    expect((await admin.call('/jobs/retry', many)).status).to.equal(400);
    const { jobs } = await admin.ask('retryJobs', '/jobs/retry', body);
    expect(jobs).to.deep.equal([
      { id: one, refusal: null },
      { id: 'reports:nothing', refusal: 'gone' },
      { id: other, refusal: null },
    ]);
    await admin.expectAudited('reports', 'job.retry');
    const audited = await shop.stack.db
      .collection('audit')
      .countDocuments({ action: 'job.retry', 'before.job': { $in: [one, other] } });
    expect(audited).to.equal(2);
    const [waiting] = (await support.ask('findJobs', `/jobs/about?about=${one.split(':')[1]}`)).jobs;
    expect(waiting).to.include({ name: 'reports', state: 'waiting', refusal: 'waiting' });
  });

  it('lists processes, and settings without secrets to operations and admin', async () => {
    const { processes, releases } = await support.ask('listProcesses', '/system/processes');
    const types = processes.map(({ type }: { type: string }) => type);
    expect(types.join('+').split('+')).to.include.members(['web', 'fulfilment', 'follow-up', 'settlements']);
    expect(releases).to.deep.equal([releaseVersion]);
    expect(processes[0].memory_bytes).to.be.greaterThan(1e7);
    expect((await support.call('/system/settings')).status).to.equal(403);
    const { settings } = await (
      await callerAs(shop, 'operations')
    ).ask('getServiceSettings', '/system/settings');
    const setting = (name: string) => settings.find((each: { name: string }) => each.name === name);
    expect(setting('DEPOSIT_MODE')).to.include({ value: 'confirm', is_given: true });
    expect(setting('SESSION_SECRET')).to.include({ value: null, shown: 'secret', is_set: true });
    expect(setting('LEDGER_CLOSE_KEY')).to.include({ is_read: false });
    const text = JSON.stringify(settings);
    for (const name of ['SESSION_SECRET', 'ENCRYPTION_KEY', 'PAYMENT_NOTIFY_SECRET']) {
      const secret = shop.stack.env[name];
      expect(secret !== undefined && secret !== '' && text.includes(secret), name).to.equal(false);
    }
  });

  it('the command line finds, shows and retries jobs and lists processes', async () => {
    const id = await shop.addUnreadableJob();
    const subject = id.split(':')[1] ?? '';
    const { env } = shop.stack;
    const found = await topup(['job', 'find', subject, '--json'], env);
    expect(found.json<{ jobs: { id: string }[] }>().jobs.map((each) => each.id)).to.deep.equal([id]);
    const shown = await topup(['job', 'show', id], env);
    expect(shown.stdout).to.include('Error: made up').and.to.include(`topup job retry ${id}`);
    const retried = await topup(['job', 'retry', id, 'reports:nothing', '--reason', 'mended'], env);
    expect(retried.code, 'one of the jobs is gone').to.equal(1);
    expect(retried.stdout).to.include(`${id} runs again.`).and.to.include('it no longer exists');
    const page = await topup(['job', 'find', '--queue', 'reports', '--state', 'waiting', '--json'], env);
    const { jobs } = page.json<{ jobs: { subject: string }[] }>();
    expect(jobs.map((each) => each.subject)).to.include(subject);
    expect((await topup(['job', 'find'], env)).code, 'without a subject').to.equal(2);
    const listed = await topup(['process', 'list', '--json'], env);
    expect(listed.json<{ type: string; release: string }[]>()).to.satisfy(
      (all: { type: string; release: string }[]) =>
        all.some(({ type, release }) => type === 'web' && release === releaseVersion),
    );
  });

  describeWith('chromium', 'in a browser', () => {
    let browser: ConsoleBrowser;
    let page: Page;

    before(async () => {
      browser = await startConsoleBrowser(shop);
      ({ page } = await browser.logIn('operations'));
    });
    after(() => browser.close());

    it('finds a failed job, selects it by keyboard and retries it at 375 px', async () => {
      const id = await shop.addUnreadableJob();
      const subject = id.split(':')[1] ?? '';
      await page.setViewportSize({ width: 375, height: 800 });
      await browser.open(page, '/jobs', 'Jobs');
      await page.getByLabel('Subject').fill(subject);
      await page.getByRole('button', { name: 'Filter' }).first().press('Enter');
      const job = page.getByRole('article', { name: `reports ${subject}` });
      await job.getByText('set aside').waitFor();
      await job.getByRole('checkbox').press('Space');
      await page.getByText('1 selected, at most 100').waitFor();
      await expectPageToPassChecks(page, 'jobs at 375 px');
      await act(page, 'Retry selected jobs');
      await page.getByRole('region', { name: 'Retry results' }).getByText(`${id}: retried`).waitFor();
      await admin.lastAudit('reports').then((entry) => {
        expect(entry).to.include({ action: 'job.retry', reason });
      });
      await job.getByText('waiting', { exact: true }).waitFor();
      await page.setViewportSize({ width: 1_280, height: 800 });
    });

    it('shows a job with its failures, and a purchase without jobs its timeline', async () => {
      const id = await shop.addUnreadableJob();
      await browser.open(page, `/jobs/${encodeURIComponent(id)}`, 'reports');
      await page.getByRole('table', { name: 'Failures' }).getByText('made up').waitFor();
      await expectPageToPassChecks(page, 'job');
      await act(page, 'Retry job');
      await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
      const sold = await shop.buySuccessfully();
      await eventually('its jobs are done', async () => {
        const { jobs } = await admin.ask('findJobs', `/jobs/about?about=${sold}`);
        return jobs.length === 0;
      });
      await browser.open(page, `/jobs?about=${sold}`, 'Jobs');
      await page.getByText('Completed jobs leave their queue.').waitFor();
      await page.getByRole('link', { name: `Timeline of purchase ${sold}` }).press('Enter');
      await page.getByRole('heading', { level: 1, name: /S10/ }).waitFor();
    });

    /** Registers a fictitious process that runs another release. */
    async function registerOtherRelease(): Promise<void> {
      const redis = new Redis(shop.stack.env['REDIS_URL'] ?? '');
      const prefix = shop.stack.env['QUEUE_PREFIX'] ?? 'topup';
      const processInfo = { version: '9.9.9', startedAtMs: Date.now() - 3_600_000, memoryBytes: 1 };
      await redis.set(`${prefix}:process-says:other`, JSON.stringify(processInfo));
      await redis.zadd(`${prefix}:processes`, Date.now(), 'reports:other');
      await redis.quit();
    }

    it('shows processes, differing releases and settings without secrets', async () => {
      await registerOtherRelease();
      await browser.open(page, '/system', 'System');
      await page
        .getByRole('table', { name: 'Processes' })
        .getByRole('cell', { name: /follow-up/ })
        .waitFor();
      await page.getByRole('status').getByText('9.9.9').waitFor();
      const settings = page.getByRole('table', { name: 'Settings' });
      await settings.getByRole('row', { name: /^SESSION_SECRET set \(secret\)/ }).waitFor();
      await settings.getByRole('row', { name: /^BUSINESS_TIMEZONE Asia\/Jakarta/ }).waitFor();
      await expectPageToPassChecks(page, 'system with settings');
      expect([browser.outside, browser.reports]).to.deep.equal([[], []]);
      const { page: viewer } = await browser.logIn('viewer', 'id-ID');
      await browser.open(viewer, '/system', 'Sistem');
      await viewer.getByRole('table', { name: 'Proses' }).waitFor();
      expect(await viewer.getByRole('table', { name: 'Pengaturan' }).count()).to.equal(0);
      await browser.open(viewer, `/jobs?about=${newId()}`, 'Pekerjaan');
      expect(await viewer.getByRole('checkbox').count()).to.equal(0);
    });
  });
});
