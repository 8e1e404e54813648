/**
 * `topup doctor` with a suspended worker. The worker's connections stay open, so BullMQ still
 * counts it.
 */
import { Queue, Worker } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { getProviderQueue } from '../../src/providers/provider-queue.js';
import { eventually } from '../support/eventually.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';
import { topup } from '../support/topup.js';

describe('topup doctor with a stopped worker', function () {
  this.timeout(120_000);
  let stack: Stack;
  let redis: Redis;
  let reports: RunningProgram;
  let other: RunningProgram;

  before(async () => {
    stack = await startStack({ web: false });
    redis = new Redis(stack.env['REDIS_URL'] ?? '');
    [reports, other] = await Promise.all([stack.startWorker('reports'), stack.startWorker('settlements')]);
    await eventually('both processes have heartbeats', async () => (await redis.zcard(key())) === 2);
  });
  after(async () => {
    reports.process.kill('SIGCONT');
    other.process.kill('SIGCONT');
    redis.disconnect();
    await stack.stop();
  });

  const key = () => `${stack.env['QUEUE_PREFIX']}:processes`;
  /** Registers a heartbeat for a worker of this test, which is not a process of the service. */
  const sayOf = (type: string) => redis.zadd(key(), String(Date.now()), `${type}:of-this-test`);
  const look = async () => {
    const result = await topup(['doctor', '--json'], stack.env);
    const { checks } = result.json<{ checks: Diagnosis[] }>();
    return { code: result.code, of: (name: string) => checks.find((each) => each.name === name) };
  };
  /**
   * Suspends a process and waits until it counts as silent. In test:long it waits in real time.
   * Otherwise it backdates the heartbeat.
   */
  const stopInPlace = async (program: RunningProgram, type: string): Promise<void> => {
    program.process.kill('SIGSTOP');
    const [seconds] = await redis.time();
    const members = (await redis.zrange(key(), '0', '-1')).filter((member) => member.startsWith(`${type}:`));
    expect(members).to.have.length(1);
    if (!sizes.silence.isPlayed) {
      await redis.zadd(key(), String(Number(seconds) * 1_000 - 21_000), members[0] ?? '');
    }
    await eventually(
      'the process is silent',
      async () => (await look()).of(`process ${type}`)?.status === 'fail',
      40_000,
    );
  };

  it('passes while its heartbeat arrives', async () => {
    const { of } = await look();
    expect(of('process reports')).to.include({ status: 'ok', detail: '1 alive' });
    expect(of('queue reports')).to.include({ status: 'ok' });
  });

  it('fails for the process and its queue, and not for others', async () => {
    await stopInPlace(reports, 'reports');
    const { code, of } = await look();
    expect(code).to.equal(1);
    expect(of('process reports')?.detail).to.equal('1 without a heartbeat for 20 s, and no other');
    expect(of('queue reports')).to.include({ status: 'fail' });
    expect(of('queue reports')?.detail).to.match(/1 worker, and no process that takes its jobs sends/);
    expect(of('process settlements')).to.include({ status: 'ok' });
    expect(of('queue settlements'), JSON.stringify(of('queue settlements'))).to.include({ status: 'ok' });
  });

  it('says that no worker runs if all of them are stopped', async () => {
    await stopInPlace(other, 'settlements');
    const { code, of } = await look();
    expect(code).to.equal(1);
    expect(of('queue fulfilment')).to.include({ status: 'fail' });
    expect(of('queue fulfilment')?.advice).to.match(/^No worker runs at all/);
  });

  it('passes again after it continues', async () => {
    reports.process.kill('SIGCONT');
    other.process.kill('SIGCONT');
    await eventually('both processes report again', async () => {
      const { of } = await look();
      return of('process reports')?.status === 'ok' && of('queue settlements')?.status === 'ok';
    });
  });

  it('detects a stopped process even after Redis lost its registration', async () => {
    reports.process.kill('SIGSTOP');
    await redis.del(key());
    await eventually('only the other heartbeat is left', async () => {
      const members = await redis.zrange(key(), 0, '-1');
      // A heartbeat that the process sent before it was suspended may still arrive.
      const late = members.filter((member) => member.startsWith('reports:'));
      await Promise.all(late.map((member) => redis.zrem(key(), member)));
      return late.length === 0 && members.length === 1;
    });
    const { code, of } = await look();
    expect(code).to.equal(1);
    expect(of('queue reports')).to.include({ status: 'fail' });
    expect(of('queue reports')?.detail).to.match(/no process that takes its jobs sends a heartbeat/);
    expect(of('queue settlements')).to.include({ status: 'ok' });
    reports.process.kill('SIGCONT');
    await eventually('both heartbeats are back', async () => (await redis.zcard(key())) === 2);
  });

  it('fails if a job hangs', async () => {
    const prefix = stack.env['QUEUE_PREFIX'] ?? '';
    const connection = { url: stack.env['REDIS_URL'] ?? '' };
    const queue = new Queue('polling', { connection, prefix });
    let end = (): void => undefined;
    const hangs = () => new Promise<void>((resolve) => (end = resolve));
    const worker = new Worker('polling', hangs, {
      connection: { ...connection, maxRetriesPerRequest: null },
      prefix,
    });
    try {
      const { id = '' } = await queue.add('ask-provider', {});
      await eventually('the job is active', async () => (await queue.getActiveCount()) === 1);
      await sayOf('follow-up');
      expect((await look()).of('queue polling')).to.include({ status: 'ok' });
      await redis.hset(`${prefix}:polling:${id}`, 'processedOn', Date.now() - 91_000);
      await sayOf('follow-up');
      // Delete the record of the last silence, because otherwise the time before it would not
      // count.
      await redis.del(`${prefix}:heard-again-at:{${prefix}:processes}`);
      const { code, of } = await look();
      expect(code).to.equal(1);
      expect(of('queue polling')?.detail).to.match(/; a job has been running for 9\d s$/);
    } finally {
      end();
      await worker.close();
      await queue.obliterate({ force: true });
      await queue.close();
    }
  });

  describe('with live workers and a job due for a minute', () => {
    const withOldJob = async (name: string, work: (queue: Queue) => Promise<void>): Promise<void> => {
      const prefix = stack.env['QUEUE_PREFIX'] ?? '';
      const connection = { url: stack.env['REDIS_URL'] ?? '' };
      const queue = new Queue(name, { connection, prefix });
      // A worker that is connected but takes no jobs.
      const worker = new Worker(name, () => Promise.resolve(), {
        connection: { ...connection, maxRetriesPerRequest: null },
        prefix,
        autorun: false,
      });
      try {
        await worker.waitUntilReady();
        await queue.add('made-up', {}, { timestamp: Date.now() - 61_000 });
        await work(queue);
      } finally {
        await worker.close();
        await queue.obliterate({ force: true });
        await queue.close();
      }
    };
    const stuck = /a job has been due for a minute, and none is taken$/;

    it('fails for the queue of the job', () =>
      withOldJob('inquiries', async () => {
        await sayOf('inquiries');
        const { code, of } = await look();
        expect(code).to.equal(1);
        expect(of('queue inquiries')?.detail).to.match(stuck);
      }));

    it("fails for a provider's queue too, unless its rate limit holds it back", async () => {
      await stack.seed();
      const seller = await stack.db.collection<{ _id: string }>('accounts').findOne({ username: 'seller' });
      await withOldJob(getProviderQueue(seller?._id ?? '').name, async (queue) => {
        await sayOf('fulfilment');
        const { code, of } = await look();
        expect(code).to.equal(1);
        expect(of('queue fulfilment: seller')?.detail).to.match(stuck);
        await queue.rateLimit(600_000);
        await sayOf('fulfilment');
        expect((await look()).of('queue fulfilment: seller')).to.include({ status: 'ok' });
      });
    });
  });
});
