import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect } from 'chai';
import { processTypes } from '../../src/processes.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { startStack, type Stack } from '../support/stack.js';

const clockJobs = processTypes
  .flatMap(({ handlers }) => handlers.map(({ job }) => job))
  .filter(({ clock }) => clock !== undefined);

describe('scheduled jobs, and jobs of other releases', () => {
  let stack: Stack;
  let redis: Redis;
  let schedules: Queue;
  let fulfilment: Queue;
  let buyer: ApiClient;

  before(async () => {
    stack = await startStack({ workers: ['follow-up'] });
    await stack.startWorker('follow-up');
    redis = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
    const options = { connection: redis, prefix: stack.env['QUEUE_PREFIX'] ?? '' };
    schedules = new Queue('schedules', options);
    fulfilment = new Queue('fulfilment', options);
    buyer = apiClient(stack.baseUrl, (await stack.seed())['buyer']?.api_key ?? '');
    await deposit(buyer, 500_000);
  });
  after(async () => {
    await Promise.all([schedules.close(), fulfilment.close()]);
    redis.disconnect();
    await stack.stop();
  });

  async function buy(): Promise<string> {
    const { body } = await buyer.post('/api/buyer/transaction', {
      code: 'S10',
      customer_number: '081234567890',
      ref_id: uniqueRef(),
    });
    return body.data.transaction_id as string;
  }

  const statusOf = async (id: string): Promise<unknown> =>
    (await stack.db.collection<{ _id: string; status: string }>('transactions').findOne({ _id: id }))?.status;

  async function deleteKeys(pattern: string): Promise<void> {
    const keys = await redis.keys(`${stack.env['QUEUE_PREFIX'] ?? ''}:${pattern}`);
    await redis.del(...keys, 'none');
  }

  it('each kind has one schedule, however many processes maintain it', async () => {
    await eventually(
      'all schedules exist',
      async () => (await schedules.getJobSchedulersCount()) === clockJobs.length,
    );
    const found = await schedules.getJobSchedulers();
    expect(found.map(({ key, every }) => ({ key, every }))).to.have.deep.members(
      clockJobs.map(({ name, clock }) => ({ key: name, every: clock?.everyMs })),
    );
  });

  it('a schedule that a wrong clock moved far into the future is restored', async () => {
    const name = 'sweep-purchases';
    await schedules.removeJobScheduler(name);
    const template = { name, data: { v: 1, part: 0 } };
    await schedules.upsertJobScheduler(name, { every: 5_000, startDate: Date.now() + 3_600_000 }, template);
    await eventually('the next run is soon', async () => {
      const found = await schedules.getJobScheduler(name);
      return (found?.next ?? Infinity) < Date.now() + 60_000;
    });
  });

  it('schedules and jobs lost with Redis are restored, and waiting work is done', async () => {
    const id = await buy();
    await deleteKeys('*');
    expect(await schedules.getJobSchedulersCount()).to.be.lessThan(clockJobs.length);
    const worker = await stack.startWorker('fulfilment');
    await eventually('the purchase is final', async () => (await statusOf(id)) === 'SUCCESS', 30_000);
    await eventually(
      'all schedules are back',
      async () => (await schedules.getJobSchedulersCount()) === clockJobs.length,
    );
    await worker.stop();
  });

  it('a job of a future release fails, and the sweep finds its purchase', async () => {
    const unknown = await buy();
    await deleteKeys('fulfilment*');
    const future = await fulfilment.add('fulfil-purchase', { v: 99, purchase: unknown });
    const worker = await stack.startWorker('fulfilment');
    await eventually('the new job failed', async () => (await future.getState()) === 'failed');
    const failed = await fulfilment.getJob(future.id ?? '');
    expect(failed?.failedReason).to.contain('does not know version 99 of job fulfil-purchase');
    await eventually('the sweep found it', async () => (await statusOf(unknown)) === 'SUCCESS', 30_000);
    await worker.stop();
  });
});
