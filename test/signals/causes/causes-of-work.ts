/** Causes of alarms about work that is stuck or not done. */
import { startPlayServer, type PlayServer } from '../../providers/play-server.js';
import { addProduct, waitUntilFinal, purchase } from '../../providers/provider-stack.js';
import { announceChange } from '../../support/announce-change.js';
import { eventually } from '../../support/eventually.js';
import type { RunningProgram } from '../../support/start-program.js';
import { ago, hourMs, type Causes, type Scene } from './scene.js';

/**
 * Lists the causes.
 * @param webhooks The only webhook worker. One cause suspends it during a delivery.
 */
export function causesOfWork(scene: Scene, webhooks: RunningProgram): Causes {
  const { stack, buyer, other, rows, idOf, onQueue, askClock, withRedis, isHeard } = scene;
  let receiver: PlayServer | undefined;
  let reports: RunningProgram | undefined;
  let isAnswering = false;
  const prefix = stack.env['QUEUE_PREFIX'] ?? '';
  const stepKey = `${prefix}:clock-step:{${prefix}:clock}`;
  const goOn = (program?: RunningProgram) => Promise.resolve(program?.process.kill('SIGCONT'));

  const causes: Causes['causes'] = [
    {
      alarm: 'TopupJobHangs',
      how: 'kill -STOP of a worker in the middle of a webhook',
      of: () => webhooks,
      async begin() {
        receiver = await startPlayServer((_call, response) => {
          if (isAnswering) {
            response.end('{"status":"received"}');
          }
        });
        await rows('accounts').updateOne(
          { username: 'buyer2' },
          { $set: { webhookUrl: `${receiver.url}/hook` } },
        );
        await announceChange(stack);
        await isHeard('webhooks');
        const code = await addProduct(stack, [{ sellerId: await idOf('seller'), price: 10_000 }]);
        await purchase(other, code, '081234567801');
        await eventually('the receiver gets a call', () => (receiver?.calls.length ?? 0) > 0);
        webhooks.process.kill('SIGSTOP');
      },
      async end() {
        isAnswering = true;
        await goOn(webhooks);
      },
    },
    {
      alarm: 'TopupProcessSilent',
      about: 'webhooks silent',
      how: 'the same stopped worker',
      of: () => webhooks,
      begin: () => Promise.resolve(),
      end: () => goOn(webhooks),
    },
    {
      alarm: 'TopupQueueStuck',
      about: 'reports',
      how: 'kill -STOP of a worker, then a report request',
      of: () => reports,
      async begin() {
        reports = await stack.startWorker('reports');
        await isHeard('reports');
        reports.process.kill('SIGSTOP');
        const asked = await buyer.post('/api/buyer/reports', { type: 'transaction' });
        if (asked.status >= 300) {
          throw new Error(JSON.stringify(asked.body));
        }
      },
      end: () => goOn(reports),
    },
    {
      alarm: 'TopupWorkLate',
      how: 'a sale that no worker posts for a minute',
      async begin() {
        const code = await addProduct(stack, [{ sellerId: await idOf('seller'), price: 10_000 }]);
        await waitUntilFinal(stack, await purchase(buyer, code, '081234567802'));
      },
      end: () => stack.startWorker('sellers'),
    },
    {
      alarm: 'TopupQueueNotTaken',
      how: 'a job without a worker',
      begin: () => onQueue('settlements', (queue) => queue.add('pay-out', { v: 1 })),
      end: () => onQueue('settlements', (queue) => queue.drain()),
    },
    {
      alarm: 'TopupQueuePaused',
      how: 'paused, as in the console',
      begin: () => onQueue('inquiries', (queue) => queue.pause()),
      end: () => onQueue('inquiries', (queue) => queue.resume()),
    },
    {
      alarm: 'TopupQueueLong',
      how: '1,001 jobs',
      begin: () =>
        onQueue('settlements', (queue) =>
          queue.addBulk(Array.from({ length: 1_001 }, () => ({ name: 'pay-out', data: { v: 1 } }))),
        ),
      end: () => onQueue('settlements', (queue) => queue.drain()),
    },
    {
      alarm: 'TopupClockLate',
      how: 'its last run moved back by two hours *',
      begin: () => eventually('the first run of the job', () => moveRun({}), 60_000),
      // The schedule repeats this run within ten minutes, so move the new run back as well.
      restore: () => moveRun({ at: { $gt: ago(hourMs) } }),
      end: () => askClock('apply-retention'),
    },
    {
      alarm: 'TopupRedisClockStepped',
      how: 'a step on record *',
      // The step is repaired only a minute after this time.
      begin: () =>
        withRedis((client) =>
          client.set(stepKey, JSON.stringify({ byMs: -600_000, atMs: Date.now() + 2 * hourMs })),
        ),
      end: () => withRedis((client) => client.del(stepKey)),
    },
    {
      // Other causes need memory for their jobs. While memory is short, heartbeats cannot be
      // written either.
      alarm: 'TopupRedisMemory',
      beginsLast: true,
      endsFirst: true,
      how: 'maxmemory at 120 % of what is used',
      begin: () =>
        withRedis(async (client) => {
          const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
          await client.config('SET', 'maxmemory', String(Math.round(1.2 * used)));
        }),
      end: () => withRedis((client) => client.config('SET', 'maxmemory', '0')),
    },
  ];

  async function moveRun(which: object): Promise<boolean> {
    const moved = { $set: { at: ago(2 * hourMs) } };
    return (
      (await rows('clockRuns').updateOne({ _id: 'apply-retention', ...which }, moved)).matchedCount === 1
    );
  }

  return {
    causes,
    async stop() {
      await Promise.all([goOn(webhooks), goOn(reports)]);
      await receiver?.stop();
    },
  };
}
