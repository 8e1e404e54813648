import { expect } from 'chai';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance, expectLedgerVerified } from '../support/ledger.js';
import { startPrivateMongo, type Outage } from '../support/outage.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import {
  buyUntilAnswered,
  waitUntilAllFinal,
  expectExecutionsToMatch,
  inParallel,
} from '../support/purchases.js';
import { seededRandom } from '../support/random.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';

const { purchases, limitMs } = sizes.crash;
const numbers = ['081234567890', '081234561230', '081234561232', '081234561233', '081234561235'];

describe('purchases during crashes', function () {
  this.timeout(limitMs);
  let stack: Stack;
  let redis: PrivateRedis;
  let mongo: Outage;
  const random = seededRandom();

  before(async () => {
    // Use a private Redis, because the test empties it.
    redis = await startPrivateRedis();
    // Use a private MongoDB whose locks expire 2 s after a process is killed.
    mongo = await startPrivateMongo({ lockLifetimeS: 2 });
    stack = await startStack({
      workers: ['follow-up', 'webhooks', 'sellers'],
      env: { REDIS_URL: redis.url, MONGODB_URI: mongo.url },
    });
  });
  after(async () => {
    await stack.stop();
    await redis.stop();
    await mongo.stop();
  });

  it(`survives kill -9 and a loss of Redis: ${purchases} purchases end once and send webhooks (${random.seed})`, async () => {
    const key = (await stack.seed())['buyer']?.api_key ?? '';
    const webs = [await stack.startWeb(), await stack.startWeb()];
    await apiClient(stack.baseUrl, key).post('/api/buyer/deposit', {
      amount: 11_000 * purchases,
      ref_id: uniqueRef(),
    });

    const collector = collectReportedStates();
    let stopping = false;
    const chaos = killWorkersRepeatedly(() => stopping);
    const accepted: string[] = [];
    const bought = Array.from({ length: purchases }, (_, index) => index);
    let webKilled = false;
    let redisEmptied = false;
    await inParallel(bought, 24, async (index) => {
      if (index > purchases * 0.4 && !webKilled) {
        webKilled = true;
        await webs[0]?.stop('SIGKILL');
        webs[0] = await stack.startWeb();
      }
      if (index > purchases * 0.6 && !redisEmptied) {
        redisEmptied = true;
        await redis.empty();
      }
      const number = numbers[Math.floor(random() * numbers.length)] ?? '';
      accepted.push(await buyUntilAnswered({ key, number }, () => webs[index % webs.length]?.url ?? ''));
    });
    stopping = true;
    await chaos;
    await stack.startWorker('fulfilment');

    await waitUntilAllFinal(stack, limitMs);
    expect(new Set(accepted).size).to.equal(purchases);
    expect(await stack.db.collection('transactions').countDocuments({})).to.equal(purchases);
    await expectLedgerToBalance(stack);
    await expectLedgerVerified(stack);
    await expectExecutionsToMatch(stack);
    await expectEveryFinalStateReported(collector);
  });

  async function killWorkersRepeatedly(stopped: () => boolean): Promise<void> {
    while (!stopped()) {
      const worker = await stack.startWorker('fulfilment');
      const marker = await finalCount();
      await eventually(
        'progress before the next kill',
        async () => stopped() || (await finalCount()) > marker + 20,
        60_000,
      );
      await worker.stop('SIGKILL');
    }
  }

  async function finalCount(): Promise<number> {
    return stack.db.collection('transactions').countDocuments({ status: { $in: ['SUCCESS', 'FAILED'] } });
  }

  interface StateCollector {
    /** `<transaction> <status>` for every final state that the inbox received. */
    states: Set<string>;
    /** Stops collecting. Resolves when all messages that the inbox has now are read. */
    end(): Promise<void>;
  }

  /**
   * Collects the webhooks that the inbox received. Reads continuously, because the inbox keeps only
   * 10,000 messages.
   */
  function collectReportedStates(): StateCollector {
    const states = new Set<string>();
    let isOver = false;
    const collect = async () => {
      for (let after = 0; !isOver;) {
        const newer = await stack.inbox.messages({ after: String(after), wait_ms: '1000' });
        after = newer.at(-1)?.id ?? after;
        for (const { raw } of newer) {
          const { event, data } = JSON.parse(raw) as {
            event?: string;
            data?: { transaction_id: string; status: string };
          };
          if (event === 'transaction.success' || event === 'transaction.failed') {
            states.add(`${data?.transaction_id ?? ''} ${data?.status ?? ''}`);
          }
        }
      }
    };
    const collected = collect();
    return {
      states,
      end: () => {
        isOver = true;
        return collected;
      },
    };
  }

  async function expectEveryFinalStateReported(collector: StateCollector): Promise<void> {
    const wanted = await stack.db
      .collection<{ _id: string; status: string }>('transactions')
      .find({})
      .map((each) => `${each._id} ${each.status.toLowerCase()}`)
      .toArray();
    await eventually(
      'a webhook for every final state',
      () => {
        const missing = wanted.filter((each) => !collector.states.has(each));
        if (missing.length > 0) {
          throw new Error(`${missing.length} of ${wanted.length} missing, such as ${missing[0] ?? ''}`);
        }
        return true;
      },
      60_000,
    );
    await collector.end();
  }
});
