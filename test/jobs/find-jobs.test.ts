/** Operators search for jobs by subject, or by queue and state. */
import { expect } from 'chai';
import { createAccount } from '../../src/accounts/create-account.js';
import type { Account } from '../../src/accounts/account.model.js';
import { answerInquiryJob } from '../../src/bills/inquire-bill.js';
import { checkMeterJob } from '../../src/bills/check-meter.js';
import { findJob, findJobs } from '../../src/doctor/jobs/find-jobs.js';
import { listJobs, type JobFilter } from '../../src/doctor/jobs/list-jobs.js';
import { retryJobs } from '../../src/doctor/jobs/retry-jobs.js';
import { addJob } from '../../src/jobs/add-job.js';
import { handle, type Handler } from '../../src/jobs/define-job.js';
import { failingJobs } from '../../src/jobs/failing-job.model.js';
import { openQueue } from '../../src/jobs/queues.js';
import { startWorkers, type RunningWorkers } from '../../src/jobs/start-workers.js';
import { postSellerCreditsJob } from '../../src/money/credits/seller-credits.js';
import { findCurrentJobs } from '../../src/processes.js';
import {
  askProviderJob,
  getProviderFulfilmentJob,
  fulfilPurchaseJob,
  verifySaleJob,
} from '../../src/purchases/fulfil/fulfilment-jobs.js';
import { redis } from '../../src/redis/connection.js';
import { generateReportJob } from '../../src/reports/report-queue.js';
import { payOutJob } from '../../src/settlements/settlement-jobs.js';
import { newId } from '../../src/shared/ids.js';
import { deliverDueJob } from '../../src/webhooks/deliver/delivery-jobs.js';
import { deliveries } from '../../src/webhooks/deliver/delivery.model.js';
import { buildDelivery, getReceiverId } from '../../src/webhooks/new-delivery.js';
import { eventually } from '../support/eventually.js';
import { useDatabase } from '../webhooks/support/database.js';
import { openShop, type Shop } from './sold-purchases.js';

const by = { actor: 'test', from: null, reason: 'mended' };
const url = 'http://127.0.0.1:1/hook';

describe('job search', () => {
  let shop: Shop;
  let account: Account;
  let workers: RunningWorkers | null = null;

  // Registered first, because the hook of `useDatabase` closes the connections.
  after(async () => {
    for (const { queue } of await findCurrentJobs()) {
      await openQueue(queue).drain(true);
    }
  });
  useDatabase();
  before(async () => {
    shop = await openShop('http://127.0.0.1:1');
    const made = await createAccount({ username: `b${newId()}`, role: 'buyer', webhookUrl: url });
    ({ account } = made);
  });
  afterEach(async () => {
    await workers?.close();
    workers = null;
  });

  const namesAbout = async (what: string) => (await findJobs(what)).jobs.map(({ name }) => name).sort();

  it('finds each kind of job by its subject, in every queue', async () => {
    const accountId = account._id;
    const [purchaseId, settlementId, reportId, inquiryId, checkId] = [
      newId(),
      newId(),
      newId(),
      newId(),
      newId(),
    ];
    const receiverId = getReceiverId(accountId, url);
    await addJob(fulfilPurchaseJob, { purchaseId, accountId });
    await addJob(getProviderFulfilmentJob(shop.seller._id), { purchaseId, accountId });
    await addJob(askProviderJob, { purchaseId, accountId, askNow: false }, { delayMs: 60_000 });
    await addJob(askProviderJob, { purchaseId, accountId, askNow: true });
    await addJob(verifySaleJob, { purchaseId, accountId });
    await addJob(payOutJob, { settlementId, accountId });
    await addJob(generateReportJob, { reportId, accountId });
    await addJob(answerInquiryJob, { inquiryId, accountId });
    await addJob(checkMeterJob, { checkId, accountId });
    await addJob(deliverDueJob, { receiverId, accountId });
    await addJob(postSellerCreditsJob, { accountId });

    const { jobs } = await findJobs(purchaseId);
    expect(jobs.map(({ queue, name }) => `${name} ${queue}`).sort()).to.deep.equal(
      [
        'ask-provider polling',
        'ask-provider polling',
        'fulfil-purchase fulfilment',
        `fulfil-purchase fulfilment-${shop.seller._id}`,
        'verify-sale polling',
      ].sort(),
    );
    const delayed = jobs.find(({ state }) => state === 'delayed');
    expect(delayed?.nextRunAt?.getTime()).to.be.closeTo(Date.now() + 60_000, 5_000);
    expect(delayed?.data).to.deep.equal({ purchaseId, accountId, askNow: false });
    const found: string[] = ['ask-provider', 'fulfil-purchase', 'verify-sale'];
    for (const [what, job] of [
      [settlementId, payOutJob],
      [reportId, generateReportJob],
      [inquiryId, answerInquiryJob],
      [checkId, checkMeterJob],
      [receiverId, deliverDueJob],
    ] satisfies [string, { name: string }][]) {
      expect(await namesAbout(what), job.name).to.deep.equal([job.name]);
      found.push(job.name);
    }
    expect(await namesAbout(account.username)).to.deep.equal(['deliver-due', 'post-seller-credits']);
    const kinds = (await findCurrentJobs()).filter(
      ({ clock, name }) => !clock && name !== 'verify-ledger-now',
    );
    expect(new Set([...found, 'post-seller-credits']), 'add new kinds here').to.deep.equal(
      new Set(kinds.map(({ name }) => name)),
    );
    const delivery = buildDelivery({
      id: newId(),
      accountId,
      channel: 'webhook',
      url,
      event: 'ping',
      payload: {},
    });
    await deliveries.insertOne(delivery);
    const ofDelivery = await findJobs(delivery._id);
    expect(ofDelivery.things).to.deep.include({
      kind: 'delivery',
      id: delivery._id,
      accountId,
      subjects: [{ receiverId }],
    });
    expect(ofDelivery.jobs.map(({ name }) => name)).to.deep.equal(['deliver-due']);
  });

  it('finds jobs by ref_id and account, and a purchase without jobs', async () => {
    const { _id: id, refId, accountId } = await shop.buy();
    const atProvider = await eventually('its job is listed', async () => {
      const { jobs } = await findJobs(refId);
      return jobs.length > 0 && jobs;
    });
    expect(await namesAbout(shop.buyer.username)).to.include('fulfil-purchase');
    await openQueue({ ...fulfilPurchaseJob.queue, name: atProvider[0]?.queue ?? '' }).drain(true);
    const drained = await findJobs(refId);
    expect(drained.jobs).to.deep.equal([]);
    expect(drained.things).to.deep.equal([
      { kind: 'purchase', id, accountId, subjects: [{ purchaseId: id }] },
    ]);
    expect(await findJobs('nothing-of-this-name')).to.deep.equal({ things: [], jobs: [] });
  });

  it('shows every failure of a job, even after Redis lost it, and can retry the job', async () => {
    const settlementId = newId();
    // Use a separate account, because jobs of other tests also fail here.
    const { account: own } = await createAccount({ username: `s${newId()}`, role: 'seller' });
    const accountId = own._id;
    const id = `pay-out:${settlementId}`;
    workers = startWorkers([handle(payOutJob, () => Promise.reject(new TypeError('no bank 0123456789')))]);
    await addJob(payOutJob, { settlementId, accountId });
    await eventually('two rounds', async () => ((await failingJobs.findOne({ _id: id }))?.rounds ?? 0) >= 2);
    await workers.close();
    const [seen] = (await findJobs(settlementId)).jobs;
    expect(seen).to.include({ name: 'pay-out', state: 'delayed', refusal: null });
    expect(seen?.failures.length).to.equal(seen?.failedRounds);
    expect(seen?.failures.map(({ reason }) => reason)).to.include('TypeError: no bank ***');
    expect(await findJob(seen?.id ?? '')).to.deep.equal(seen);
    await openQueue(payOutJob.queue).obliterate({ force: true });
    const [lost] = (await findJobs(own.username)).jobs;
    expect(lost).to.include({ id, state: 'lost', refusal: null });
    expect(lost?.failures).to.deep.equal(seen?.failures);
    expect(await findJob(id)).to.deep.equal(lost);
    expect(await retryJobs([id, 'pay-out:nothing', '1@nowhere'], by)).to.deep.equal([
      { id, refusal: null },
      { id: 'pay-out:nothing', refusal: 'gone' },
      { id: '1@nowhere', refusal: 'gone' },
    ]);
    const [again] = (await findJobs(settlementId)).jobs;
    expect(again).to.include({ state: 'waiting', refusal: 'waiting', failedRounds: 0 });
  });

  it("pages through a state without gaps or repeats, even if a cursor's job is gone", async () => {
    const [queue, polling] = [openQueue(verifySaleJob.queue), verifySaleJob.queue.name];
    await queue.obliterate({ force: true });
    const read = async (filter: JobFilter, limit: number, between: (id: string) => unknown = () => null) => {
      const subjects: string[] = [];
      let after: string | undefined;
      do {
        const page = await listJobs(filter, { after, limit });
        expect(page.jobs.length).to.be.at.most(limit);
        subjects.push(...page.jobs.map(({ subject }) => subject ?? ''));
        after = page.next ?? undefined;
        await between(page.jobs.at(-1)?.id ?? '');
      } while (after !== undefined);
      return subjects;
    };
    const ids = Array.from({ length: 7 }, (_, n) => `waits-${n}`);
    for (const [n, purchaseId] of ids.entries()) {
      const data = { purchaseId, accountId: 'a1' };
      await addJob(verifySaleJob, data);
      await addJob(askProviderJob, { ...data, askNow: false }, { delayMs: 60_000 * (n + 1) });
    }
    expect(await read({ queue: polling, state: 'waiting' }, 3)).to.deep.equal(ids);
    expect(await read({ queue: polling, state: 'delayed' }, 2)).to.deep.equal(ids);
    expect(await read({ queue: polling, state: 'delayed', name: 'ask-provider' }, 2)).to.deep.equal(ids);
    expect(await read({ queue: polling, state: 'delayed', name: 'verify-sale' }, 2)).to.deep.equal([]);
    const away: Handler[] = [handle(verifySaleJob, () => Promise.resolve())];
    workers = startWorkers(away);
    await eventually('all jobs are done', async () => (await queue.getCompletedCount()) === ids.length);
    await workers.close();
    const removeJob = async (id: string) => {
      await (await queue.getJob(id.split('@')[0] ?? ''))?.remove();
    };
    const done = { queue: polling, state: 'completed' } as const;
    expect((await read(done, 2)).sort()).to.deep.equal(ids);
    expect((await read(done, 2, removeJob)).sort()).to.deep.equal(ids);
    const wrong = await listJobs(done, { after: 'x', limit: 2 }).catch((error: unknown) => error);
    expect(wrong).to.have.property('name', 'ValidationError');
  });

  it('neither shows nor retries an unknown payload', async () => {
    const queue = openQueue(payOutJob.queue);
    await queue.add('pay-out', { v: 99, secret: 'hunter2' });
    await queue.add('no-such-job', { secret: 'hunter2' });
    workers = startWorkers([handle(payOutJob, () => Promise.resolve())]);
    const jobs = await eventually('both jobs fail', async () => {
      const page = await listJobs({ queue: payOutJob.queue.name, state: 'failed' }, { limit: 10 });
      return page.jobs.length === 2 && page.jobs;
    });
    expect(jobs.map(({ refusal, data, subject }) => ({ refusal, data, subject }))).to.deep.equal(
      Array.from({ length: 2 }, () => ({ refusal: 'unreadable', data: null, subject: null })),
    );
    expect(JSON.stringify(jobs)).to.not.include('hunter2');
    const [retried] = await retryJobs([jobs[0]?.id ?? ''], by);
    expect(retried?.refusal).to.equal('unreadable');
  });

  it('costs the same for any length of a queue', async () => {
    const calls = async () => {
      const text = await redis().info('commandstats');
      return (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(text)?.[1] ?? 0);
    };
    const asked = async () => {
      const before = await calls();
      await findJobs(newId());
      const after = await calls();
      return ['scan', 'keys', 'lrange', 'zrange', 'zrevrange', 'hgetall'].filter(
        (name) => after(name) > before(name),
      );
    };
    await Promise.all(
      Array.from({ length: 300 }, () => addJob(verifySaleJob, { purchaseId: newId(), accountId: newId() })),
    );
    expect(await asked()).to.deep.equal([]);
  });
});
