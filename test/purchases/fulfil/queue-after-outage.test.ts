import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTcpGate, type Outage } from '../../support/outage.js';

describe('a queue first used during a Redis outage', () => {
  let gate: Outage;
  let closeAll: () => Promise<void>;

  before(async () => {
    gate = await startTcpGate(process.env['REDIS_URL'] ?? '');
    // The setting is read at import, so the service's modules are imported after this line.
    process.env['REDIS_URL'] = gate.url;
  });
  after(async () => {
    await gate.restore();
    await closeAll();
    await gate.stop();
  });

  const outages = [
    { how: 'hangs', name: 'fulfilment', begin: () => gate.hang() },
    { how: 'refuses connections', name: 'polling', begin: () => gate.cut() },
  ] as const;
  for (const { how, name, begin } of outages) {
    it(`Redis ${how}: reports the outage in time, and accepts jobs afterwards without a restart`, async () => {
      const { closeQueues, openQueue } = await import('../../../src/jobs/queues.js');
      const { connectRedis, disconnectRedis } = await import('../../../src/redis/connection.js');
      closeAll = async () => {
        await closeQueues();
        await disconnectRedis();
      };
      await connectRedis();
      const queue = { name, does: 'Tests an outage', concurrency: 1 };
      const add = async () => openQueue(queue).add('some', {});

      await begin();
      const refusal = await add().then(
        () => null,
        (error: unknown) => error,
      );
      expect(refusal).to.be.an('error');
      await gate.restore();
      const job = await eventually('a job is added', add);
      expect(job.id).to.be.a('string');
    });
  }
});
