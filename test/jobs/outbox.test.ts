import { expect } from 'chai';
import type { Queue } from 'bullmq';
import type { AnyBulkWriteOperation } from 'mongodb';
import { findQueuedSubjects } from '../../src/jobs/add-job.js';
import { sweepOutbox } from '../../src/jobs/outbox.js';
import type { Job } from '../../src/jobs/define-job.js';
import { openQueue } from '../../src/jobs/queues.js';
import { concludeFailure } from '../../src/purchases/fulfil/conclude-purchase.js';
import {
  askProviderJob,
  getProviderFulfilmentJob,
  fulfilPurchaseJob,
  type PurchaseData,
  purchaseOutbox,
} from '../../src/purchases/fulfil/fulfilment-jobs.js';
import { redis } from '../../src/redis/connection.js';
import { PurchaseModel, purchases, toStored, type Purchase } from '../../src/purchases/purchase.model.js';
import { setClock } from '../../src/shared/clock.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { startProgram } from '../support/start-program.js';
import { sendJson, startPlayServer, type PlayServer } from '../providers/play-server.js';
import { useDatabase } from '../webhooks/support/database.js';
import { openShop, type Shop } from './sold-purchases.js';

const count = 150;
const minuteMs = 60_000;

describe('outbox of purchases', function () {
  this.timeout(120_000);
  let provider: PlayServer;
  let shop: Shop;
  /** The job of a purchase that waits in the queue of the shop's provider. */
  let waiting: Job<PurchaseData>;

  useDatabase();
  before(async () => {
    provider = await startPlayServer((call, response) => {
      sendJson(response, 200, {
        status: '00',
        ref_id: call.url.searchParams.get('ref_id'),
        transaction_status: 'success',
        message: 'Success',
        sn: `SN${call.url.searchParams.get('ref_id') ?? ''}`,
      });
    });
  });
  after(() => provider.stop());
  beforeEach(async () => {
    shop = await openShop(provider.url);
    waiting = getProviderFulfilmentJob(shop.seller._id);
  });
  /** Remove the rows after a failed test too, because a sweep would otherwise find them. */
  afterEach(async () => {
    setClock(null);
    await PurchaseModel.deleteMany({});
    await Promise.all(queuesOfPurchases().map((queue) => queue.obliterate({ force: true })));
  });

  function queuesOfPurchases(): Queue[] {
    return [fulfilPurchaseJob, waiting, askProviderJob].map(({ queue }) => openQueue(queue));
  }

  /** Returns, for each purchase, the number of waiting jobs in all queues. */
  async function jobsOf(ids: string[]): Promise<number[]> {
    const found = await Promise.all(
      queuesOfPurchases().map((queue) => queue.getJobs(['wait', 'delayed', 'active', 'prioritized'])),
    );
    const about = found.flat().map((job) => (job.data as { purchaseId: string }).purchaseId);
    return ids.map((id) => about.filter((each) => each === id).length);
  }

  it(`${count} open purchases without a worker for ten minutes have one job each`, async () => {
    const startMs = Date.now() - 10 * minuteMs;
    setClock(() => startMs);
    const ids = (await Promise.all(Array.from({ length: count }, shop.buy))).map(({ _id }) => _id);
    for (let atMs = 0; atMs <= 10 * minuteMs; atMs += 5_000) {
      setClock(() => startMs + atMs);
      expect(await sweepOutbox(purchaseOutbox)).to.equal(0);
    }
    setClock(null);
    expect(await jobsOf(ids)).to.deep.equal(ids.map(() => 1));

    const worker = await startProgram('workers/run.js', ['fulfilment', 'follow-up', 'sellers']);
    try {
      await eventually(
        'all purchases are final',
        async () => (await PurchaseModel.countDocuments({ _id: { $in: ids }, status: 'SUCCESS' })) === count,
        60_000,
      );
    } finally {
      await worker.stop();
    }
  });

  it('adds a lost job again once, whichever queue it was in', async () => {
    const [accepted, asked] = [await shop.buy(), await shop.buy()];
    await PurchaseModel.updateOne({ _id: asked._id }, { $set: { status: 'PROCESSING', queuedFor: null } });
    await openQueue(waiting.queue).obliterate({ force: true });
    const laterMs = Date.now() + minuteMs;
    setClock(() => laterMs);
    expect(await sweepOutbox(purchaseOutbox)).to.be.at.least(2);
    const ids = [accepted._id, asked._id];
    expect([...(await findQueuedSubjects(waiting, ids))]).to.deep.equal([accepted._id]);
    expect([...(await findQueuedSubjects(askProviderJob, ids))]).to.deep.equal([asked._id]);
    setClock(() => laterMs + minuteMs);
    expect(await sweepOutbox(purchaseOutbox)).to.equal(0);
    expect(await jobsOf(ids)).to.deep.equal([1, 1]);
  });

  it('does not write to a purchase that becomes final during the sweep', async () => {
    const purchase = await shop.buy();
    await openQueue(waiting.queue).obliterate({ force: true });
    const laterMs = Date.now() + minuteMs;
    setClock(() => laterMs);
    // Conclude the purchase after the sweep has read it and before the sweep writes.
    const concluding = new Proxy(purchases, {
      get(target, property, receiver) {
        if (property !== 'bulkWrite') {
          const value: unknown = Reflect.get(target, property, receiver);
          return typeof value === 'function' ? value.bind(target) : value;
        }
        return async (writes: AnyBulkWriteOperation<Purchase>[], options: object) => {
          await concludeFailure(purchase, null, { code: '01', message: 'refused' });
          return target.bulkWrite(writes, options);
        };
      },
    });
    await sweepOutbox({ ...purchaseOutbox, collection: concluding });
    const stored = await PurchaseModel.findById(purchase._id).lean<Purchase>();
    expect(stored).to.include({ status: 'FAILED', nextActionAt: null, epoch: 0 });
    setClock(() => laterMs + 10 * minuteMs);
    await sweepOutbox(purchaseOutbox);
    expect((await findQueuedSubjects(waiting, [purchase._id])).size, 'queued jobs').to.be.at.most(1);
  });

  it('sweeps that share several batches add each lost job once and skip none', async () => {
    const template = await PurchaseModel.findById((await shop.buy())._id).lean<Purchase>();
    await openQueue(waiting.queue).obliterate({ force: true });
    const many = Array.from({ length: 2_500 }, () => ({
      ...(template as Purchase),
      _id: newId(),
      refId: newId(),
    }));
    await purchases.insertMany(many.map(toStored));
    const laterMs = Date.now() + minuteMs;
    setClock(() => laterMs);
    let calls = 0;
    const callForHelp = async () => {
      calls += 1;
      await Promise.all([1, 2, 3].map((part) => sweepOutbox(purchaseOutbox, { part })));
    };
    await sweepOutbox(purchaseOutbox, { callForHelp });
    expect(calls, 'calls for help').to.equal(1);
    const jobs = await jobsOf(many.map(({ _id }) => _id));
    expect(jobs.filter((each) => each !== 1)).to.deep.equal([]);
  });

  for (const left of ['over', 'gone'] as const) {
    it(`a leftover deduplication key of a job that is ${left} does not block a purchase`, async () => {
      const purchase = await shop.buy();
      const queue = openQueue(waiting.queue);
      const id = (await queue.getDeduplicationJobId(`${fulfilPurchaseJob.name}:${purchase._id}`)) ?? '';
      // Create the state after a crash between a job's end and the removal of its deduplication
      // key. A manual removal of the job leaves the same state.
      expect(await redis().zrem(queue.toKey('prioritized'), id)).to.equal(1);
      await (left === 'over'
        ? redis().zadd(queue.toKey('completed'), Date.now(), id)
        : redis().del(queue.toKey(id)));
      const laterMs = Date.now() + minuteMs;
      setClock(() => laterMs);
      expect(await sweepOutbox(purchaseOutbox)).to.be.at.least(1);
      expect(await jobsOf([purchase._id])).to.deep.equal([1]);
    });
  }

  it('two concurrent sweeps add each lost job once', async () => {
    const ids = (await Promise.all(Array.from({ length: 50 }, shop.buy))).map(({ _id }) => _id);
    await openQueue(waiting.queue).obliterate({ force: true });
    const laterMs = Date.now() + minuteMs;
    setClock(() => laterMs);
    await Promise.all([0, 0, 1].map((part) => sweepOutbox(purchaseOutbox, { part })));
    expect(await jobsOf(ids)).to.deep.equal(ids.map(() => 1));
  });
});
