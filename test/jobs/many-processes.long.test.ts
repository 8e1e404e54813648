/** Several copies of every process. No work is done twice, and every copy takes part. */
import { QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { expect } from 'chai';
import { processTypes } from '../../src/processes.js';
import { apiClient } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import {
  buyUntilAnswered,
  waitUntilAllFinal,
  expectExecutionsToMatch,
  inParallel,
} from '../support/purchases.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';

const { purchases, isApart, limitMs } = sizes.manyProcesses;
const times = [1, 2, 3];
const roundsMax = 10;
const kinds = processTypes.map(({ name }) => name);

describe(`two web processes and three workers of each kind, ${purchases} purchases`, function () {
  this.timeout(limitMs);
  let stack: Stack;
  let redis: Redis;
  let events: QueueEvents;
  /**
   * The number of starts of each scheduled job, by job id. The id contains the schedule and the
   * time.
   */
  const begun = new Map<string, number>();
  const workers: RunningProgram[] = [];

  before(async () => {
    stack = await startStack({ env: { LOG_LEVEL: 'info' } });
    redis = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
    const prefix = stack.env['QUEUE_PREFIX'] ?? '';
    events = new QueueEvents('schedules', { connection: redis, prefix, lastEventId: '0' });
    events.on('active', ({ jobId }) => begun.set(jobId, (begun.get(jobId) ?? 0) + 1));
    await events.waitUntilReady();
    const fleet = isApart ? kinds.map((kind) => [kind]) : [['all']];
    // Start two processes at a time, because each uses a whole CPU core while it starts.
    await inParallel(
      fleet.flatMap((each) => times.map(() => each)),
      2,
      async (each) => {
        workers.push(await stack.startWorker(...each));
      },
    );
  });
  after(async () => {
    await events.close();
    redis.disconnect();
    await stack.stop();
  });

  /** Returns the times of the schedule's runs, in ascending order. */
  const turnsOf = (name: string): number[] =>
    [...begun.keys()]
      .flatMap((id) => {
        const [, schedule, atMs] = /^repeat:(.+):(\d+)$/.exec(id) ?? [];
        return schedule === name ? [Number(atMs)] : [];
      })
      .sort((a, b) => a - b);

  /**
   * Counts the log lines with this text for each worker. Workers without such a line are left out.
   */
  const linesWith = (text: string): number[] =>
    workers.map((worker) => worker.output().split(text).length - 1).filter((lines) => lines > 0);

  it('handle each purchase and webhook once, and each process has a share', async () => {
    const key = (await stack.seed())['buyer']?.api_key ?? '';
    const webs = [stack.baseUrl, (await stack.startWeb()).url];
    const buyer = apiClient(stack.baseUrl, key);
    await deposit(buyer, 11_000 * purchases * roundsMax);

    const bought: string[] = [];
    const didNothing = () =>
      ['"provider responded"', '"webhook attempt"'].some((line) => linesWith(line).length < times.length);
    // The first idle process takes a job. With few purchases, some processes may get none.
    for (let rounds = 0; rounds === 0 || (didNothing() && rounds < roundsMax); rounds++) {
      await inParallel([...Array(purchases).keys()], 16, async (index) => {
        const web = () => webs[index % webs.length] ?? '';
        bought.push(await buyUntilAnswered({ key, number: '081234567890' }, web));
      });
      await waitUntilAllFinal(stack, limitMs);
      await eventually(
        'every webhook arrives',
        async () => (await countWebhooks()).size >= bought.length,
        60_000,
      );
    }
    await expectExecutionsToMatch(stack);
    await expectLedgerToBalance(stack);

    const webhookCounts = await countWebhooks();
    expect([...webhookCounts.keys()]).to.have.members(bought);
    const twice = [...webhookCounts].filter(([, requests]) => requests > 1);
    expect(twice, 'purchases with repeated webhooks').to.deep.equal([]);
    expect(didNothing(), 'idle processes').to.equal(false);
  });

  it('run each turn of a schedule once', async () => {
    const clocks = processTypes.flatMap(({ handlers }) =>
      handlers.flatMap(({ job }) => (job.clock ? [{ name: job.name, everyMs: job.clock.everyMs }] : [])),
    );
    const quick = clocks.filter(({ everyMs }) => everyMs <= 5_000);
    await eventually('three turns each', () => quick.every(({ name }) => turnsOf(name).length >= 3), 30_000);
    expect([...begun].filter(([, count]) => count > 1)).to.deep.equal([]);
    for (const { name, everyMs } of clocks) {
      const turns = turnsOf(name);
      const spanMs = (turns.at(-1) ?? 0) - (turns[0] ?? 0);
      // Each process that starts may restart the schedule, which can cause one more run.
      const most = spanMs / everyMs + 1 + times.length;
      expect(turns.length, `turns of ${name} in ${spanMs} ms`).to.be.at.most(most);
    }
  });

  /** Returns the number of success webhooks for each purchase. */
  async function countWebhooks(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { headers, raw } of await stack.inbox.messages()) {
      if (headers['x-event'] === 'transaction.success') {
        const id = (JSON.parse(raw) as { data: { transaction_id: string } }).data.transaction_id;
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
    return counts;
  }
});
