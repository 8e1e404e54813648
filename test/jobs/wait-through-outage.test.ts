import { expect } from 'chai';
import Joi from 'joi';
import { startTcpGate, type TcpGate } from '../support/outage.js';

describe('waiting for a job when Redis becomes unreachable', () => {
  let gate: TcpGate;
  let end: () => Promise<void>;

  before(async () => {
    gate = await startTcpGate(process.env['REDIS_URL'] ?? '');
    // The setting is read at import, so the service's modules are imported after this line.
    process.env['REDIS_URL'] = gate.url;
  });
  after(async () => {
    await gate.restore();
    await end();
    await gate.stop();
  });

  it('directly after adding it: returns false in time, and the process continues', async () => {
    const { addAndWait } = await import('../../src/jobs/add-job.js');
    const { defineJob } = await import('../../src/jobs/define-job.js');
    const { closeQueues, openQueue } = await import('../../src/jobs/queues.js');
    const { connectRedis, disconnectRedis } = await import('../../src/redis/connection.js');
    end = async () => {
      await closeQueues();
      await disconnectRedis();
    };
    await connectRedis();
    const queue = { name: 'waited-for', does: 'Tests an outage', concurrency: 1 };
    const job = defineJob<{ id: string }>({
      queue,
      name: 'wait',
      version: 1,
      data: Joi.object({ id: Joi.string() }),
      subject: ({ id }) => id,
    });
    // BullMQ's events are already subscribed, so only the final query can fail.
    expect(await addAndWait(job, { id: 'first' }, { timeoutMs: 1_000 })).to.equal(false);
    const rejections: unknown[] = [];
    const recordRejection = (error: unknown) => rejections.push(error);
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', recordRejection);
    openQueue(queue).once('waiting', () => void gate.cut());
    expect(await addAndWait(job, { id: 'second' }, { timeoutMs: 3_000 })).to.equal(false);
    process.removeAllListeners('unhandledRejection');
    others.forEach((each) => process.on('unhandledRejection', each));
    expect(rejections).to.deep.equal([]);
  });
});
