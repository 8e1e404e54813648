/** The clock of Redis is set while purchases are made and a worker is killed. */
import { expect } from 'chai';
import type { Purchase } from '../../src/purchases/purchase.model.js';
import { addProduct, newBuyer, pointSeller, purchase } from '../providers/provider-stack.js';
import type { ApiClient } from '../support/api-client.js';
import { announceChange } from '../support/announce-change.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../support/ledger.js';
import { requireTool } from '../support/require-tool.js';
import { runAtRate } from '../support/run-at-rate.js';
import { startShiftedRedis, type ShiftedRedis } from '../support/shifted-redis.js';
import { sizes } from '../support/sizes.js';
import type { RunningProgram } from '../support/start-program.js';
import { startStack, type Stack } from '../support/stack.js';

const { stepsS, limitMs } = sizes.clockSteps;
const finalWithinMs = 60_000;

interface Scene {
  redis: ShiftedRedis;
  stack: Stack;
  buyer: ApiClient;
  code: string;
  workers: RunningProgram[];
}

describe("a step of Redis's clock @sized", function () {
  this.timeout(limitMs);
  let scene: Scene | null = null;
  let shiftMs = 0;

  before(async function () {
    requireTool(this, 'cc');
    scene = await startScene();
  });
  after(async () => {
    await scene?.stack.stop();
    await scene?.redis.stop();
  });

  for (const stepS of stepsS) {
    it(`by ${stepS} s stops no sale, and loses and doubles none`, async () => {
      const { redis, stack, workers, ...shop } = requireScene();
      const load = startLoad(shop);
      await eventually(
        'some are final',
        async () => (await countFinal(stack, load.ids)) >= 10,
        finalWithinMs,
      );
      await workers[0]?.stop('SIGKILL');
      shiftMs += stepS * 1_000;
      await redis.shiftTo(shiftMs);
      const steppedMs = performance.now();
      const tookMs = () => Math.round(performance.now() - steppedMs);
      workers[0] = await startWorker(stack);
      await eventually('the step is found', () => isOnRecord(stack, redis, stepS), finalWithinMs);
      await eventually('the alarm is raised', () => isAlarmActive(stack), finalWithinMs);
      const raisedMs = tookMs();
      await load.stop();
      await eventually(
        'every purchase is final',
        async () => (await countFinal(stack, load.ids)) === load.ids.length,
        finalWithinMs - tookMs(),
      );
      process.stdout.write(
        `    ${load.ids.length} purchases, final ${tookMs()} ms after the step, alarm after ${raisedMs} ms\n`,
      );
      await expectExecutedOnce(stack, load.ids);
    });
  }

  it('raises an alarm that ends when the stored times are repaired', async () => {
    const { stack } = requireScene();
    await eventually('the alarm has ended', async () => !(await isAlarmActive(stack)), 2 * finalWithinMs);
    await expectLedgerToBalance(stack);
    await expectLedgerVerified(stack);
  });

  function requireScene(): Scene {
    if (!scene) {
      throw new Error('The scene was not started');
    }
    return scene;
  }
});

async function startScene(): Promise<Scene> {
  const redis = await startShiftedRedis();
  const stack = await startStack({ env: { REDIS_URL: redis.url } });
  stack.env['ALERT_WEBHOOK_URL'] = `${stack.inbox.url}/alerts`;
  const accounts = await stack.seed();
  const { secret } = stack.simulator;
  const seller = await pointSeller(stack, 'seller', {
    kind: 'simulator',
    baseUrl: null,
    username: 'clock-steps',
    secret,
  });
  await stack.db
    .collection<{ _id: string }>('accounts')
    .updateOne({ _id: seller.id }, { $set: { 'provider.callsPerSecond': 20, 'provider.concurrency': 8 } });
  await announceChange(stack);
  await stack.simulator.control({ latency_ms: 200 });
  const code = await addProduct(stack, [{ sellerId: seller.id, price: 10_000 }]);
  const buyer = await newBuyer(stack, accounts['buyer']?.api_key ?? '');
  const workers = await Promise.all([startWorker(stack), startWorker(stack)]);
  return { redis, stack, buyer, code, workers };
}

function startWorker(stack: Stack): Promise<RunningProgram> {
  return stack.startWorker('fulfilment', 'follow-up', 'webhooks', 'sellers');
}

/** Buys, a little more slowly than the provider accepts orders. */
function startLoad({ buyer, code }: Pick<Scene, 'buyer' | 'code'>): { ids: string[]; stop(): Promise<void> } {
  const ids: string[] = [];
  let isOver = false;
  const buying = runAtRate(10, Infinity, async (index) => {
    // The simulator has no scenario for numbers with this ending.
    ids.push(await purchase(buyer, code, `08${String(index).padStart(8, '0')}00`));
    if (isOver) {
      throw new LoadOver();
    }
  }).catch((error: unknown) => {
    if (!(error instanceof LoadOver)) {
      throw error;
    }
  });
  return {
    ids,
    stop() {
      isOver = true;
      return buying;
    },
  };
}

class LoadOver extends Error {}

function countFinal(stack: Stack, ids: string[]): Promise<number> {
  return stack.db
    .collection<Purchase>('transactions')
    .countDocuments({ _id: { $in: ids }, status: { $in: ['SUCCESS', 'FAILED'] } });
}

/** True if the last step on record is this one. An earlier one may have the same alarm. */
async function isOnRecord({ env }: Stack, { client }: ShiftedRedis, stepS: number): Promise<boolean> {
  const prefix = env['QUEUE_PREFIX'] ?? '';
  const text = await client.get(`${prefix}:clock-step:{${prefix}:clock}`);
  const { byMs = 0 } = (text === null ? {} : JSON.parse(text)) as { byMs?: number };
  return Math.abs(byMs / 1_000 - stepS) < 20;
}

async function isAlarmActive(stack: Stack): Promise<boolean> {
  const alarms = stack.db.collection<{ _id: string }>('alarms');
  return (await alarms.findOne({ _id: 'TopupRedisClockStepped', endedAt: null, told: true })) !== null;
}

async function expectExecutedOnce(stack: Stack, ids: string[]): Promise<void> {
  const executed = (await stack.simulator.log()).map(({ ref_id: refId }) => refId.split('-')[0] ?? '');
  const sold = await stack.db
    .collection<Purchase>('transactions')
    .find({ _id: { $in: ids } })
    .toArray();
  for (const { _id, status } of sold) {
    const times = executed.filter((each) => each === _id).length;
    expect(times, `${_id} ${status}`).to.equal(status === 'SUCCESS' ? 1 : 0);
  }
}
