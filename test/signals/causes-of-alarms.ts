/** What begins and ends each alarm that is told without Prometheus, in a running copy of the service. */
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Long, type Collection, type Document } from 'mongodb';
import { addProduct, pointSeller, purchase } from '../providers/provider-stack.js';
import { announceChange } from '../support/announce-change.js';
import { uniqueRef, type ApiClient } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import type { PrivateRedis } from '../support/private-redis.js';
import type { Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';

export interface Cause {
  how: string;
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

export interface CausesOfAlarms {
  /** By the name of the alarm, in the order in which they are to begin. */
  causes: Record<string, Cause>;
  /** Lets go of what still stands still. */
  stop(): Promise<unknown>;
}

const hourMs = 3_600_000;
const never = new Date('9999-01-01T00:00:00Z');
const ago = (ms: number) => new Date(Date.now() - ms);

export function causesOfAlarms({
  stack,
  redis,
  buyer,
}: {
  stack: Stack;
  redis: PrivateRedis;
  buyer: ApiClient;
}): CausesOfAlarms {
  let stopped: RunningProgram | undefined;
  /** BullMQ's own, whose jobs end when the test says so. */
  const workers = new Map<string, { worker: Worker; end: () => void }>();
  const rows = (name: string): Collection<Document & { _id: string }> => stack.db.collection(name);
  const plant = (name: string, row: Document) => rows(name).insertOne({ _id: uniqueRef('planted'), ...row });
  const uproot = (name: string) => rows(name).deleteMany({ _id: /^planted/ });
  const idOf = async (username: string) => String((await rows('accounts').findOne({ username }))?._id);
  async function onQueue<T>(name: string, work: (queue: Queue) => Promise<T>): Promise<T> {
    const { hostname, port } = new URL(redis.url);
    const connection = { host: hostname, port: Number(port) };
    const queue = new Queue(name, { connection, prefix: stack.env['QUEUE_PREFIX'] ?? '' });
    try {
      return await work(queue);
    } finally {
      await queue.close();
    }
  }
  /** Holds what it takes. */
  async function openWorker(name: string, { autorun }: { autorun: boolean }): Promise<Worker> {
    let end = (): void => undefined;
    const { hostname, port } = new URL(redis.url);
    const worker = new Worker(name, () => new Promise<void>((resolve) => (end = resolve)), {
      connection: { host: hostname, port: Number(port), maxRetriesPerRequest: null },
      prefix: stack.env['QUEUE_PREFIX'] ?? '',
      autorun,
    });
    workers.set(name, {
      worker,
      end: () => {
        end();
      },
    });
    await worker.waitUntilReady();
    return worker;
  }
  async function closeWorker(name: string): Promise<void> {
    const open = workers.get(name);
    workers.delete(name);
    // What it holds ends while it takes no more.
    const closed = open?.worker.close();
    open?.end();
    await closed;
  }
  async function withRedis<T>(work: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(redis.url);
    try {
      return await work(client);
    } finally {
      client.disconnect();
    }
  }
  const planted = (name: string, row: Document, how: string): Cause => ({
    how,
    begin: () => plant(name, row),
    end: () => uproot(name),
  });
  const last = '9999-01-01';
  const verifications = { _id: last } as never;
  /** An alarm that ends is told after another look: those of one row end together. */
  const endVerification = () =>
    rows('ledgerVerifications').updateOne(verifications, { $set: { ok: true, failures: 0, at: new Date() } });

  const causes: Record<string, Cause> = {
    TopupProcessSilent: {
      how: 'kill -STOP of a worker',
      async begin() {
        stopped = await stack.startWorker('webhooks');
        // It has said once that it lives.
        await eventually('it to be heard', () =>
          withRedis(async (client) =>
            (await client.zrange(`${stack.env['QUEUE_PREFIX']}:processes`, 0, '-1')).some((each) =>
              each.startsWith('webhooks:'),
            ),
          ),
        );
        stopped.process.kill('SIGSTOP');
      },
      end: () => Promise.resolve(stopped?.process.kill('SIGCONT')),
    },
    TopupQueueNotTaken: {
      how: 'a job, and no worker',
      begin: () => onQueue('settlements', (queue) => queue.add('pay-out', { v: 1 })),
      end: () => onQueue('settlements', (queue) => queue.drain()),
    },
    TopupWorkLate: {
      how: 'a sale of two minutes ago, and no worker',
      async begin() {
        const code = await addProduct(stack, [{ sellerId: await idOf('seller'), price: 10_000 }]);
        await purchase(buyer, code, '081234567890');
        await eventually('the sale', async () => {
          const { modifiedCount } = await rows('sellerCredits').updateMany(
            { status: 'new' },
            { $set: { createdAt: ago(120_000) } },
          );
          return modifiedCount > 0;
        });
      },
      end: () => stack.startWorker('sellers'),
    },
    TopupJobHangs: {
      how: 'a job of 91 s, of 120 it may take',
      async begin() {
        const worker = await openWorker('inquiries', { autorun: true });
        await onQueue('inquiries', (queue) => queue.add('inquiries', {}));
        const isTaken = async () =>
          onQueue('inquiries', async (queue) => (await queue.getActive(0, 0))[0]?.id ?? null);
        const id = await eventually('a job to be taken', isTaken);
        await worker.pause(true);
        const key = `${stack.env['QUEUE_PREFIX']}:inquiries:${id}`;
        await withRedis((client) => client.hset(key, 'processedOn', Date.now() - 91_000));
      },
      end: () => closeWorker('inquiries'),
    },
    TopupQueuePaused: {
      how: 'paused, as in the console',
      begin: () => onQueue('inquiries', (queue) => queue.pause()),
      end: () => onQueue('inquiries', (queue) => queue.resume()),
    },
    TopupQueueLong: {
      how: '1,001 jobs',
      begin: () =>
        onQueue('settlements', (queue) =>
          queue.addBulk(Array.from({ length: 1_001 }, () => ({ name: 'pay-out', data: { v: 1 } }))),
        ),
      end: () => onQueue('settlements', (queue) => queue.drain()),
    },
    TopupQueueStuck: {
      how: 'a worker that takes nothing',
      async begin() {
        await openWorker('reports', { autorun: false });
        await onQueue('reports', (queue) => queue.add('made-up', {}, { timestamp: Date.now() - 61_000 }));
      },
      async end() {
        await onQueue('reports', (queue) => queue.drain());
        await closeWorker('reports');
      },
    },
    TopupPurchasesOld: {
      ...planted(
        'transactions',
        {
          ...{ accountId: 'nobody', refId: uniqueRef(), status: 'PROCESSING', price: Long.fromNumber(1) },
          ...{ createdAt: ago(2 * 24 * hourMs), nextActionAt: never, reviewSince: null },
        },
        'an open purchase of two days ago',
      ),
    },
    TopupProviderCircuitOpen: {
      how: 'a provider that refuses connections',
      async begin() {
        const { id } = await pointSeller(stack, 'seller3', {
          ...{ kind: 'simulator', baseUrl: 'http://127.0.0.1:1', username: 'gone', secret: 'gone' },
        });
        const code = await addProduct(stack, [{ sellerId: id, price: 10_000 }]);
        await Promise.all(
          Array.from({ length: 40 }, (_, at) => purchase(buyer, code, `0812345678${10 + at}`)),
        );
      },
      async end() {
        const settings = {
          kind: 'simulator',
          baseUrl: null,
          username: 'seller3',
          secret: stack.simulator.secret,
        } as const;
        await pointSeller(stack, 'seller3', settings);
      },
    },
    TopupProviderWaits: {
      how: 'five orders at one in 100 s',
      async begin() {
        const id = await idOf('seller2');
        await rows('accounts').updateOne({ _id: id }, { $set: { 'provider.callsPerSecond': 0.01 } });
        await announceChange(stack);
        const code = await addProduct(stack, [{ sellerId: id, price: 10_000 }]);
        for (let at = 0; at < 6; at++) {
          await purchase(buyer, code, `0812345679${10 + at}`);
        }
      },
      async end() {
        await rows('accounts').updateOne(
          { _id: await idOf('seller2') },
          { $unset: { 'provider.callsPerSecond': 1 } },
        );
        await announceChange(stack);
      },
    },
    TopupDecisionsWait: planted(
      'cases',
      { transactionId: uniqueRef(), kind: 'reversal', detail: '', createdAt: ago(0), resolvedAt: null },
      'an open case',
    ),
    TopupPaymentsWait: planted(
      'adjustments',
      { accountId: 'nobody', status: 'pending', amount: Long.fromNumber(1), createdAt: ago(0) },
      'an adjustment to approve',
    ),
    TopupGivenUp: planted(
      'deliveries',
      {
        accountId: 'nobody',
        state: 'dead',
        event: 'transaction.success',
        settledAt: ago(0),
        createdAt: ago(0),
      },
      'a webhook that was given up',
    ),
    TopupLedgerNotClosed: {
      how: 'the last close of two days ago',
      begin: () =>
        rows('dayCloses').insertOne({
          ...{ _id: last, state: 'closed', batches: 0, root: 'a', signature: null },
          content: {
            ...{ wallets: 0, journals: 0, totals: {}, walletsHash: '', previous: null },
            closedAt: ago(48 * hourMs),
          },
        }),
      end: () => rows('dayCloses').updateOne({ _id: last }, { $set: { 'content.closedAt': new Date() } }),
    },
    TopupLedgerRed: {
      how: 'a verification that found mistakes',
      begin: () =>
        rows('ledgerVerifications').insertOne({
          ...{
            _id: last,
            at: ago(48 * hourMs),
            durationMs: 1,
            ok: false,
            failures: 3,
            checks: [],
            findings: [],
          },
        }),
      end: endVerification,
    },
    TopupLedgerNotVerified: {
      how: 'the same, of two days ago',
      begin: () => Promise.resolve(),
      end: endVerification,
    },
    TopupProviderRecordDiffers: {
      how: 'a comparison with differences',
      begin: () => reconciled('seller', { different: 2, at: new Date() }),
      end: async () =>
        rows('providerReconciliations').updateOne(
          { _id: `${await idOf('seller')}:${last}` },
          {
            $set: { accepted: { by: 'test', reason: 'known', at: new Date(), different: 2 } },
          },
        ),
    },
    TopupProviderNotReconciled: {
      how: 'the last comparison of two days ago',
      begin: () => reconciled('seller2', { different: 0, at: ago(48 * hourMs) }),
      end: async () =>
        rows('providerReconciliations').updateOne(
          { _id: `${await idOf('seller2')}:${last}` },
          {
            $set: { at: new Date() },
          },
        ),
    },
    TopupClockLate: {
      how: 'work by the clock last done two hours ago',
      begin: () =>
        eventually(
          'a run of it',
          async () => {
            const { matchedCount } = await rows('clockRuns').updateOne(
              { _id: 'verify-ledger' },
              { $set: { at: ago(2 * hourMs) } },
              { upsert: false },
            );
            return matchedCount === 1;
          },
          60_000,
        ),
      end: () => rows('clockRuns').updateOne({ _id: 'verify-ledger' }, { $set: { at: new Date() } }),
    },
    // Last: what the others add must still find room.
    TopupRedisMemory: {
      how: 'maxmemory at 120 % of what is used',
      begin: () =>
        withRedis(async (client) => {
          const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
          await client.config('SET', 'maxmemory', String(Math.round(1.2 * used)));
        }),
      end: () => withRedis((client) => client.config('SET', 'maxmemory', '0')),
    },
  };

  async function reconciled(username: string, of: { different: number; at: Date }): Promise<unknown> {
    const sellerId = await idOf(username);
    return rows('providerReconciliations').insertOne({
      ...{ _id: `${sellerId}:${last}`, sellerId, date: last, by: 'system', ours: 0, theirs: 0, matched: 0 },
      ...{ differences: [], accepted: null, ...of },
    });
  }

  return {
    causes,
    stop() {
      stopped?.process.kill('SIGCONT');
      return Promise.all([...workers.keys()].map(closeWorker));
    },
  };
}
