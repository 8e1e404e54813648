/**
 * An operator retries failed jobs. No money moves twice, even if the job's subject has changed in
 * the meantime.
 */
import { expect } from 'chai';
import { AuditModel } from '../../src/audit/audit.model.js';
import { findJobs } from '../../src/doctor/jobs/find-jobs.js';
import { listJobs } from '../../src/doctor/jobs/list-jobs.js';
import { retryJobs } from '../../src/doctor/jobs/retry-jobs.js';
import type { JobDescription } from '../../src/doctor/jobs/describe-job.js';
import { addJob } from '../../src/jobs/add-job.js';
import { handle, type Handler, type Job } from '../../src/jobs/define-job.js';
import { openQueue } from '../../src/jobs/queues.js';
import { startWorkers, type RunningWorkers } from '../../src/jobs/start-workers.js';
import { postSellerCreditsJob } from '../../src/money/credits/seller-credits.js';
import { sellerCredits } from '../../src/money/credits/seller-credit.model.js';
import { journals } from '../../src/money/journals/journal.model.js';
import { getWallet } from '../../src/money/wallets/wallet-balance.js';
import { processTypes } from '../../src/processes.js';
import { OfferModel } from '../../src/products/offer.model.js';
import {
  askProviderJob,
  getProviderFulfilmentJob,
  fulfilPurchaseJob,
  verifySaleJob,
} from '../../src/purchases/fulfil/fulfilment-jobs.js';
import { OrderModel } from '../../src/purchases/order.model.js';
import { PurchaseModel, type Purchase } from '../../src/purchases/purchase.model.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { generateReportJob } from '../../src/reports/report-queue.js';
import { payOutJob } from '../../src/settlements/settlement-jobs.js';
import { requestSettlement } from '../../src/settlements/request-settlement.js';
import { SettlementModel } from '../../src/settlements/settlement.model.js';
import { DependencyError } from '../../src/shared/errors.js';
import { newId } from '../../src/shared/ids.js';
import { deliverDueJob } from '../../src/webhooks/deliver/delivery-jobs.js';
import type { PlayServer } from '../providers/play-server.js';
import { eventually } from '../support/eventually.js';
import { useDatabase } from '../webhooks/support/database.js';
import { openShop, startAllWorkers, startSellingProvider, type Shop } from './sold-purchases.js';

const by = { actor: 'test', from: null, reason: 'mended' };

describe('jobs retried by an operator', function () {
  this.timeout(90_000);
  let provider: PlayServer;
  let isPending = false;
  let shop: Shop;
  let workers: RunningWorkers | null = null;

  useDatabase();
  before(async () => {
    provider = await startSellingProvider(() => isPending);
    shop = await openShop(provider.url);
    const _id = `${shop.productCode}:${shop.seller._id}`;
    await writeAndInvalidate([OfferModel], null, (rows) =>
      rows.updateOne({ _id }, { $set: { price: 100_000 } }),
    );
  });
  afterEach(async () => {
    await workers?.close();
    workers = null;
  });
  after(() => provider.stop());

  const work = () => {
    workers = startAllWorkers();
  };
  const rest = async () => {
    await workers?.close();
    workers = null;
  };
  const statusOf = async (id: string) => (await PurchaseModel.findById(id).lean<Purchase>())?.status;

  /** Makes this job fail, as an outage would. */
  async function fail<D extends object>(job: Job<D>, data: D): Promise<JobDescription> {
    const away = new DependencyError(new Error('MongoDB is away'));
    // A job that no sweep restores is retried until it needs an operator.
    const handlers: Handler[] =
      job.isSwept === false
        ? [
            handle(
              job,
              () => Promise.reject(new Error('made up')),
              () => Promise.resolve(true),
            ),
          ]
        : [handle(job, () => Promise.reject(away))];
    workers = startWorkers(handlers);
    await addJob(job, data);
    const failed = await eventually(
      `${job.name} fails`,
      async () => {
        const { jobs } = await listJobs(
          { queue: job.queue.name, state: 'failed', name: job.name },
          { limit: 100 },
        );
        return jobs.find(({ subject }) => subject === job.subject(data));
      },
      20_000,
    );
    await rest();
    return failed;
  }

  const idle = async (job: Job<never>) => {
    const counts = await openQueue(job.queue).getJobCounts('wait', 'prioritized', 'active', 'delayed');
    return Object.values(counts).every((count) => count === 0);
  };

  it('a retry of any kind of job is harmless after its subject is done', async () => {
    const [sold, other] = [await shop.buy(), await shop.buy()];
    work();
    for (const { _id } of [sold, other]) {
      await eventually('the purchase is sold', async () => (await statusOf(_id)) === 'SUCCESS');
    }
    const sellerId = shop.seller._id;
    await eventually('the credits are posted', async () => (await getWallet(sellerId)).balance > 190_000);
    const bankAccount = { bankCode: '014', accountNumber: '8830012345', accountName: 'PT Pulsa' };
    const asked = { account: shop.seller, amount: 60_000, bankAccount, refId: newId() };
    const { settlement } = await requestSettlement(asked);
    const paid = async () => (await SettlementModel.findById(settlement._id))?.status === 'completed';
    await eventually('the settlement is paid', paid);
    await rest();

    const accountId = shop.buyer._id;
    const ofPurchase = { purchaseId: sold._id, accountId };
    const failed = [
      await fail(fulfilPurchaseJob, ofPurchase),
      await fail(getProviderFulfilmentJob(sellerId), ofPurchase),
      await fail(askProviderJob, { ...ofPurchase, askNow: false }),
      await fail(askProviderJob, { ...ofPurchase, askNow: true }),
      await fail(verifySaleJob, ofPurchase),
      await fail(postSellerCreditsJob, { accountId: sellerId }),
      await fail(payOutJob, { settlementId: settlement._id, accountId: sellerId }),
      await fail(deliverDueJob, { receiverId: `${sellerId}-abcdefabcdef`, accountId: sellerId }),
      await fail(generateReportJob, { reportId: newId(), accountId: sellerId }),
    ];
    const kinds = processTypes
      .flatMap(({ handlers }) => handlers)
      .filter(({ job }) => !job.clock && !job.mayBeLost)
      .map(({ job }) => job.name);
    expect(new Set(failed.map(({ name }) => name)), 'add new kinds here').to.deep.equal(new Set(kinds));

    const state = async () => ({
      journals: await journals.countDocuments({ subjectId: { $in: [sold._id, other._id, settlement._id] } }),
      credits: await sellerCredits.countDocuments({ sellerId }),
      orders: await OrderModel.countDocuments({ accountId }),
      buyer: await getWallet(accountId),
      seller: await getWallet(sellerId),
    });
    const before = await state();
    const bought = () => new Set(provider.calls.map(({ url }) => url.searchParams.get('ref_id'))).size;
    const boughtBefore = bought();
    const ids = failed.map(({ id }) => id);
    expect(await retryJobs(ids, by)).to.deep.equal(ids.map((id) => ({ id, refusal: null })));
    work();
    const jobs: Job<never>[] = [
      ...processTypes.flatMap(({ handlers }) => handlers).map(({ job }) => job),
      getProviderFulfilmentJob(sellerId) as Job<never>,
    ].filter(({ clock }) => !clock);
    for (const job of jobs.filter(({ name }) => kinds.includes(name))) {
      await eventually(`${job.queue.name} is idle`, () => idle(job), 20_000);
    }
    expect(await state()).to.deep.equal(before);
    expect(bought(), 'orders at the provider').to.equal(boughtBefore);
    expect(await statusOf(sold._id)).to.equal('SUCCESS');
    for (const id of ids) {
      expect(
        await AuditModel.countDocuments({ action: 'job.retry', 'before.id': id.split('@')[0] }),
      ).to.be.greaterThan(0);
    }
    const again = await retryJobs(ids, by);
    expect(again.map(({ refusal }) => refusal)).to.deep.equal(ids.map(() => 'gone'));
  });

  it('a purchase with an order at the provider is not ordered again and is sold once', async () => {
    isPending = true;
    const { _id: id, accountId } = await shop.buy();
    work();
    await eventually('the order', () => OrderModel.exists({ transactionId: id, acknowledged: true }));
    await rest();
    const { balance } = await getWallet(accountId);
    const failed = [
      await fail(fulfilPurchaseJob, { purchaseId: id, accountId }),
      await fail(getProviderFulfilmentJob(shop.seller._id), { purchaseId: id, accountId }),
    ];
    const bought = () => new Set(provider.calls.map(({ url }) => url.searchParams.get('ref_id'))).size;
    const before = bought();
    isPending = false;
    await retryJobs(
      failed.map(({ id: each }) => each),
      by,
    );
    work();
    await eventually('the purchase is sold', async () => (await statusOf(id)) === 'SUCCESS', 40_000);
    expect(await OrderModel.countDocuments({ transactionId: id })).to.equal(1);
    expect(bought()).to.equal(before);
    expect((await getWallet(accountId)).balance).to.equal(balance);
    const kinds = (await journals.find({ subjectId: id }).toArray()).map(({ kind }) => kind);
    expect(kinds.sort()).to.deep.equal(['purchase', 'success']);
  });

  it('two operators retry at once while another job waits: one job is left', async () => {
    const data = { settlementId: newId(), accountId: shop.seller._id };
    const { id } = await fail(payOutJob, data);
    await addJob(payOutJob, data);
    await Promise.all([retryJobs([id], by), retryJobs([id], by)]);
    const { jobs } = await findJobs(data.settlementId);
    expect(jobs.map(({ state, name }) => [state, name])).to.deep.equal([['waiting', 'pay-out']]);
    expect((await retryJobs([jobs[0]?.id ?? ''], by))[0]?.refusal).to.equal('waiting');
    await openQueue(payOutJob.queue).drain();
  });
});
