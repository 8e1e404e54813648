/**
 * Jobs that always fail, because of stored data or because they kill their worker. All of them
 * become visible to an operator.
 */
import { once } from 'node:events';
import { expect } from 'chai';
import Joi from 'joi';
import mongoose from 'mongoose';
import { env } from '../../config/env.js';
import type { Account } from '../../src/accounts/account.model.js';
import { createAccount } from '../../src/accounts/create-account.js';
import { AuditModel } from '../../src/audit/audit.model.js';
import { diagnoseAttention } from '../../src/doctor/diagnose-work.js';
import { listFailingJobs } from '../../src/doctor/attention.js';
import { retryFailingJob } from '../../src/doctor/jobs/retry-jobs.js';
import { addJob } from '../../src/jobs/add-job.js';
import { defineJob, defineQueue, handle } from '../../src/jobs/define-job.js';
import { FailingJobModel, type FailingJob } from '../../src/jobs/failing-job.model.js';
import { roundsMax } from '../../src/jobs/failed-rounds.js';
import { openQueue } from '../../src/jobs/queues.js';
import { startWorkers, type RunningWorkers } from '../../src/jobs/start-workers.js';
import { postSellerCreditsJob } from '../../src/money/credits/seller-credits.js';
import { sellerCredits, toStored as toStoredCredit } from '../../src/money/credits/seller-credit.model.js';
import { getWallet } from '../../src/money/wallets/wallet-balance.js';
import { processTypes } from '../../src/processes.js';
import { CaseModel } from '../../src/purchases/case.model.js';
import { buildOrder } from '../../src/purchases/fulfil/orders.js';
import { setAsidePurchase } from '../../src/purchases/fulfil/put-under-review.js';
import { askProviderJob, verifySaleJob } from '../../src/purchases/fulfil/fulfilment-jobs.js';
import { OrderModel, orders, toStored as toStoredOrder } from '../../src/purchases/order.model.js';
import { PurchaseModel, purchases, type Purchase } from '../../src/purchases/purchase.model.js';
import { listReviews } from '../../src/purchases/review/review-decisions.js';
import { resolveReview } from '../../src/purchases/review/resolve-review.js';
import { redis } from '../../src/redis/connection.js';
import { generateReportJob } from '../../src/reports/report-queue.js';
import { ReportModel } from '../../src/reports/report.model.js';
import { payOutJob } from '../../src/settlements/settlement-jobs.js';
import { SettlementModel } from '../../src/settlements/settlement.model.js';
import { newId } from '../../src/shared/ids.js';
import { deliverDueJob } from '../../src/webhooks/deliver/delivery-jobs.js';
import { getReceiverId } from '../../src/webhooks/new-delivery.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { eventually } from '../support/eventually.js';
import { withFault } from '../support/mongo-faults.js';
import type { PlayServer } from '../providers/play-server.js';
import { useDatabase } from '../webhooks/support/database.js';
import { deadlyJob } from './deadly-job.js';
import { openShop, startAllWorkers, startSellingProvider, type Shop } from './sold-purchases.js';

const by = { actor: 'test', from: null, reason: 'mended' };
const url = 'http://127.0.0.1:1/hook';

describe('poisoned jobs', () => {
  let provider: PlayServer;
  /** True while the provider responds with "pending". */
  let pending = false;
  let shop: Shop;
  let workers: RunningWorkers | null = null;

  useDatabase();
  before(async () => {
    provider = await startSellingProvider(() => pending);
    shop = await openShop(provider.url);
  });
  afterEach(async () => {
    await workers?.close();
    workers = null;
  });
  after(() => provider.stop());

  const work = () => {
    workers = startAllWorkers();
  };
  const stored = (id: string) => PurchaseModel.findById(id).orFail().lean<Purchase>();
  const under = (id: string) =>
    eventually(`${id} is under review`, async () => (await stored(id)).reviewSince, 20_000);
  const failing = (id: string) => FailingJobModel.findById(id).lean<FailingJob>();
  const needsPerson = (id: string) =>
    eventually(
      `${id} needs an operator`,
      async () => {
        const found = await failing(id);
        return found?.needsPersonSince ? found : null;
      },
      20_000,
    );

  describe('with invalid stored data', () => {
    /**
     * Ids of three purchases. `waiting` cannot be sent. `sent` and `sold` were sent through a
     * provider kind that no longer exists, and `sold` was successful.
     */
    let [waiting, sent, sold]: [string, string, string] = ['', '', ''];
    let [settlementId, reportId, rich, sealed] = ['', '', '', ''];
    let orderBefore: unknown;
    let balanceBefore: number;
    let asked: number;

    before(async () => {
      sold = (await shop.buy())._id;
      work();
      await eventually('the purchase is sold', async () => (await stored(sold)).status === 'SUCCESS');
      await workers?.close();
      await OrderModel.updateOne({ transactionId: sold }, { $set: { providerKind: 'gone' } });
      waiting = (await shop.buy())._id;
      await purchases.updateOne({ _id: waiting }, { $unset: { createdAt: 1 } });
      const processing = await shop.buy();
      sent = processing._id;
      const order = buildOrder({
        accountId: shop.buyer._id,
        transactionId: sent,
        n: 1,
        sellerId: shop.seller._id,
        offerPrice: 1_000,
        commissionRate: 0,
        provider: { kind: 'h2h', baseUrl: provider.url, username: 'us' },
      });
      const open = {
        ...order,
        providerKind: 'gone' as never,
        status: 'UNKNOWN' as const,
        sentAt: new Date(),
      };
      await orders.insertOne(toStoredOrder(open));
      orderBefore = await orders.findOne({ _id: order._id });
      await purchases.updateOne({ _id: sent }, { $set: { status: 'PROCESSING', queuedFor: null } });
      balanceBefore = (await getWallet(shop.buyer._id)).balance;
      asked = provider.calls.length;

      settlementId = newId();
      const ownerId = newId();
      await SettlementModel.collection.insertOne({
        _id: settlementId as never,
        accountId: ownerId,
        refId: null,
        amount: 50_000,
        fee: 0,
        netAmount: 50_000,
        status: 'processing',
        needsApproval: false,
        claimedBy: null,
        claimedAt: null,
        epoch: 0,
        reason: null,
        nextActionAt: new Date(Date.now() + 60_000),
        createdAt: new Date(),
        finalAt: null,
      });
      reportId = newId();
      await ReportModel.create({
        _id: reportId,
        accountId: ownerId,
        role: 'buyer',
        type: 'transaction',
        format: 'json',
        period: { start: new Date(0), end: new Date() },
        status: 'pending',
        filename: 'r',
        epoch: 0,
        nextActionAt: null,
        createdAt: new Date(),
        expiresAt: new Date(Date.now() + 3_600_000),
      });
      rich = (await createAccount({ username: `s${newId()}`, role: 'seller' })).account._id;
      const credit = {
        accountId: shop.buyer._id,
        sellerId: rich,
        transactionId: newId(),
        createdAt: new Date(),
      };
      await sellerCredits.insertMany(
        [1, 2].map(() =>
          toStoredCredit({
            ...credit,
            _id: newId(),
            amount: Number.MAX_SAFE_INTEGER,
            status: 'new',
            postingId: null,
          }),
        ),
      );
      sealed = (await createAccount({ username: `b${newId()}`, role: 'buyer', webhookUrl: url })).account._id;
      await mongoose.connection
        .collection<Account>('accounts')
        .updateOne({ _id: sealed }, { $set: { webhookSecretSealed: 'no secret' } });

      await Promise.all([
        addJob(askProviderJob, { purchaseId: sent, accountId: shop.buyer._id, askNow: false }),
        addJob(verifySaleJob, { purchaseId: sold, accountId: shop.buyer._id }),
        addJob(payOutJob, { settlementId, accountId: ownerId }),
        addJob(generateReportJob, { reportId, accountId: ownerId }),
        addJob(postSellerCreditsJob, { accountId: rich }),
        addJob(deliverDueJob, { receiverId: getReceiverId(sealed, url), accountId: sealed }),
      ]);
    });

    it('a purchase goes to review with the reason, without refund, order or check', async () => {
      work();
      await Promise.all([under(waiting), under(sent)]);
      const found = await Promise.all([waiting, sent].map(stored));
      expect(found.map(({ status }) => status)).to.deep.equal(['PENDING', 'PROCESSING']);
      for (const { reviewReason, nextActionAt, finalAt } of found) {
        expect(reviewReason).to.match(new RegExp(`^Its job [a-z-]+ failed ${roundsMax} times. \\w*Error: `));
        expect([nextActionAt, finalAt]).to.deep.equal([null, null]);
      }
      expect(await orders.findOne({ transactionId: sent })).to.deep.equal(orderBefore);
      expect((await getWallet(shop.buyer._id)).balance).to.equal(balanceBefore);
      expect(provider.calls.length, 'calls of the provider').to.equal(asked);
      const reviews = await listReviews({ limit: 1_000 });
      const decisions = (id: string) => reviews.find(({ purchase }) => purchase._id === id)?.decisions;
      expect(decisions(waiting)).to.deep.equal(['failed', 'ask']);
      expect(decisions(sent), 'decisions without a status check').to.deep.equal(['success', 'failed']);
    });

    it('a sale becomes a case, a report fails, and other jobs stay in the list', async () => {
      work();
      await eventually('the case', () => CaseModel.exists({ transactionId: sold, kind: 'reversal' }), 20_000);
      const isFailed = async () => (await ReportModel.findById(reportId))?.status === 'failed';
      await eventually('the report fails', isFailed, 20_000);
      const ids = [
        `pay-out:${settlementId}`,
        `post-seller-credits:${rich}`,
        `deliver-due:${getReceiverId(sealed, url)}`,
      ];
      await Promise.all(ids.map(needsPerson));
      const listed = async () => (await listFailingJobs(1_000)).map(({ _id }) => _id).sort();
      await eventually("the case's and the report's jobs leave the list", async () => {
        return (await listed()).length === ids.length;
      }).catch(() => undefined);
      expect(await listed()).to.deep.equal(ids.toSorted());
      const diagnosis = (await diagnoseAttention()).find(({ name }) => name === 'jobs that fail repeatedly');
      expect(diagnosis).to.deep.include({ status: 'warn', detail: '3', advice: 'topup job list' });
      // The account's job is delayed by a day. A new job for the same account must not run earlier.
      const { rounds = 0 } = (await failing(`post-seller-credits:${rich}`)) ?? {};
      await addJob(postSellerCreditsJob, { accountId: rich });
      const opened = openQueue(postSellerCreditsJob.queue);
      await eventually('its job is delayed', async () => (await opened.getDelayedCount()) === 1);
      expect(await opened.getActiveCount()).to.equal(0);
      expect((await failing(`post-seller-credits:${rich}`))?.rounds).to.equal(rounds);
    });

    it('after the repair an operator resumes each job, and the list is empty', async () => {
      await purchases.updateOne({ _id: waiting }, { $set: { createdAt: new Date() } });
      await sellerCredits.updateMany({ sellerId: rich }, { $set: { amount: 5 } });
      work();
      await resolveReview(waiting, { outcome: 'ask' }, by);
      const id = `post-seller-credits:${rich}`;
      await retryFailingJob(id, by);
      expect(await failing(id)).to.equal(null);
      expect(await AuditModel.findOne({ action: 'job.retry', 'before.job': id }).lean()).to.deep.include(by);
      await eventually('it is sold', async () => (await stored(waiting)).status === 'SUCCESS', 20_000);
      await eventually('the credits are posted', async () => (await getWallet(rich)).balance === 10);
      const again = await retryFailingJob(id, by).catch((error: unknown) => error);
      expect(again).to.be.an('error').with.property('message').that.contains('topup job list');
    });
  });

  it('two jobs of a purchase set aside at once leave one review and no list entry', async () => {
    const { _id: purchaseId, accountId } = await shop.buy();
    const sides = Array.from({ length: 4 }, (_, n) =>
      setAsidePurchase({ purchaseId, accountId }, `side ${n}`),
    );
    expect(await Promise.all(sides)).to.deep.equal([true, true, true, true]);
    expect((await stored(purchaseId)).reviewReason).to.match(/^side \d$/);
  });

  it('a deferred job keeps its count of failed rounds', async () => {
    pending = true;
    const { _id: id } = await shop.buy();
    work();
    await eventually('the provider has the order', () =>
      OrderModel.exists({ transactionId: id, acknowledged: true }),
    );
    // From now on the provider's result cannot be stored.
    const { price } = (await purchases.findOne({ _id: id })) ?? {};
    await purchases.updateOne({ _id: id }, { $set: { price: 'abc' as never } });
    pending = false;
    await eventually(
      'a second round fails',
      async () => ((await failing(`ask-provider:${id}`))?.rounds ?? 0) >= 2,
      40_000,
    );
    expect(await orders.countDocuments({ transactionId: id })).to.equal(1);
    await purchases.updateOne({ _id: id }, { $set: { price: price as never } });
    await eventually('the purchase is sold', async () => (await stored(id)).status === 'SUCCESS', 40_000);
  });

  it('a success resets the count of failed rounds', async () => {
    let round = 0;
    const job = defineJob<{ thingId: string }>({
      queue: defineQueue({ name: 'now-and-then', does: 'Tests rounds', concurrency: 1 }),
      name: 'do-thing',
      version: 1,
      data: Joi.object({ thingId: Joi.string() }),
      subject: ({ thingId }) => thingId,
    });
    workers = startWorkers([
      handle(job, () => {
        round += 1;
        return round < 3 ? Promise.reject(new TypeError('081234567890')) : Promise.resolve();
      }),
    ]);
    await addJob(job, { thingId: 'a' });
    await eventually('two rounds fail', async () => (await failing('do-thing:a'))?.rounds === 2);
    expect((await failing('do-thing:a'))?.reason).to.equal('TypeError: ***');
    await eventually('the job succeeds', async () => round === 3 && (await failing('do-thing:a')) === null);
  });

  it('a failing scheduled job is listed, keeps running, and is cleared by a success', async () => {
    let isWell = false;
    let rounds = 0;
    const job = defineJob<object>({
      queue: defineQueue({ name: 'sick-clock', does: 'Tests the clock', concurrency: 1 }),
      name: 'tick',
      version: 1,
      data: Joi.object({}),
      clock: { everyMs: 100, data: {} },
      subject: () => 'all',
    });
    const tick = () => {
      rounds += 1;
      return isWell ? Promise.resolve() : Promise.reject(new TypeError('sick'));
    };
    workers = startWorkers([handle(job, tick)]);
    await needsPerson('tick:all');
    const before = rounds;
    await eventually('the next periods begin', () => rounds > before + 2);
    isWell = true;
    await eventually('the job leaves the list', async () => (await failing('tick:all')) === null);
  });

  it('a MongoDB outage does not count as failed rounds', async () => {
    const [settlementId, accountId] = [newId(), newId()];
    await SettlementModel.collection.insertOne({
      _id: settlementId as never,
      accountId,
      status: 'failed',
      needsApproval: false,
    });
    const namespace = `${mongoose.connection.db?.databaseName ?? ''}.settlements`;
    workers = startWorkers(processTypes.find(({ name }) => name === 'settlements')?.handlers ?? []);
    for (const kind of ['refused', 'unlabelled-error', 'forbidden'] as const) {
      const fault = { commands: ['find'], namespace, kind, times: 1_000 };
      await withFault(fault, ({ met }) =>
        eventually(`the job has failed often enough with ${kind}`, async () => {
          await addJob(payOutJob, { settlementId, accountId });
          return (await met()) > 4 * roundsMax;
        }),
      );
    }
    expect(await FailingJobModel.countDocuments({ subject: settlementId })).to.equal(0);
  });

  it('a job that kills its worker each time is set aside, and the other jobs finish', async () => {
    const queue = openQueue(deadlyJob.queue);
    const others = ['a', 'b', 'c'];
    const done = new Set<unknown>();
    for (const thingId of ['deadly', ...others]) {
      await addJob(deadlyJob, { thingId });
    }
    const id = 'die:deadly';
    let deaths = 0;
    let living = forkTestProgram('test/jobs/deadly-process');
    const isOver = async () => Boolean((await failing(id))?.needsPersonSince);
    while (!(await isOver())) {
      living.on('message', (thing) => done.add(thing));
      const ended = once(living, 'exit').then(() => 'ended');
      const over = eventually('the job is set aside', isOver, 20_000).then(() => 'over');
      if ((await Promise.race([ended, over])) === 'over') {
        break;
      }
      over.catch(() => undefined);
      deaths += 1;
      await markAsStalled(queue);
      living = forkTestProgram('test/jobs/deadly-process');
    }
    await eventually('the other jobs are done', () => others.every((each) => done.has(each)), 20_000);
    expect(deaths).to.equal(roundsMax);
    expect(living.exitCode, 'exit code of the last worker').to.equal(null);
    for (const each of others) {
      expect((await failing(`die:${each}`))?.needsPersonSince ?? null).to.equal(null);
    }
    await FailingJobModel.deleteOne({ _id: id });
    const exit = once(living, 'exit');
    living.kill('SIGKILL');
    await exit;
  });
});

/**
 * Skips the 13 seconds in which a killed worker's locks and lease expire and two checks find its
 * jobs.
 */
async function markAsStalled(queue: ReturnType<typeof openQueue>): Promise<void> {
  const active = await redis().lrange(queue.toKey('active'), 0, -1);
  await redis().del(`${env.QUEUE_PREFIX}:{lease}:suspect:${deadlyJob.queue.name}`);
  if (active.length > 0) {
    await redis().del(queue.toKey('stalled-check'), ...active.map((jobId) => `${queue.toKey(jobId)}:lock`));
    await redis().sadd(queue.toKey('stalled'), ...active);
  }
}
