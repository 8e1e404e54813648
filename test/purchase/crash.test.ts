import { expect } from 'chai';
import { apiClient, uniqueRef, type Answer } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToHold } from '../support/ledger.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import { seededRandom } from '../support/random.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';

const { purchases, limitMs } = sizes.crash;
const numbers = ['081234567890', '081234561230', '081234561232', '081234561233', '081234561235'];

describe('purchases while everything dies', function () {
  this.timeout(limitMs);
  let stack: Stack;
  let redis: PrivateRedis;
  const random = seededRandom();

  before(async () => {
    // It is emptied on the way, which nobody else could work beside.
    redis = await startPrivateRedis();
    stack = await startStack({
      workers: ['follow-up', 'webhooks', 'sellers'],
      env: { REDIS_URL: redis.url },
    });
  });
  after(async () => {
    await stack.stop();
    await redis.stop();
  });

  it(`kill -9 of workers and web and a loss of Redis during ${purchases} purchases: all final, nothing twice, every final state told (${random.seed})`, async () => {
    const key = (await stack.seed())['buyer']?.api_key ?? '';
    const webs = [await stack.startWeb(), await stack.startWeb()];
    await apiClient(stack.baseUrl, key).post('/api/buyer/deposit', {
      amount: 11_000 * purchases,
      ref_id: uniqueRef(),
    });

    const told = collectTold();
    let stopping = false;
    const chaos = killWorkersAgainAndAgain(() => stopping);
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
      const body = {
        code: 'S10',
        customer_number: numbers[Math.floor(random() * numbers.length)],
        ref_id: uniqueRef('crash'),
      };
      // A client that hears nothing, or 503, sends the same ref_id again until it gets an answer.
      const answer = await eventually(
        'an answer',
        async () => {
          const web = webs[index % webs.length];
          const got: Answer | null = await apiClient(web?.url ?? '', key)
            .post('/api/buyer/transaction', body)
            .catch(() => null);
          return got && got.status !== 503 ? got : null;
        },
        60_000,
      );
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      accepted.push(answer.body.data.transaction_id as string);
    });
    stopping = true;
    await chaos;
    await stack.startWorker('fulfilment');

    const transactions = stack.db.collection<{ _id: string; status: string }>('transactions');
    await eventually(
      'every purchase to be final',
      async () => {
        const open = await transactions
          .find({ status: { $in: ['PENDING', 'PROCESSING'] } }, { limit: 2 })
          .toArray();
        if (open.length > 0) {
          const count = await transactions.countDocuments({ status: { $in: ['PENDING', 'PROCESSING'] } });
          throw new Error(`${count} are open, such as ${JSON.stringify(open)}`);
        }
        return true;
      },
      limitMs,
    );
    expect(new Set(accepted).size).to.equal(purchases);
    expect(await transactions.countDocuments({})).to.equal(purchases);
    await expectLedgerToHold(stack);
    await expectExecutionsToMatch();
    await expectEveryFinalStateTold(told);
  });

  async function killWorkersAgainAndAgain(stopped: () => boolean): Promise<void> {
    while (!stopped()) {
      const worker = await stack.startWorker('fulfilment');
      const marker = await finalCount();
      await eventually(
        'some progress, then kill',
        async () => stopped() || (await finalCount()) > marker + 20,
        60_000,
      );
      await worker.stop('SIGKILL');
    }
  }

  async function finalCount(): Promise<number> {
    return stack.db.collection('transactions').countDocuments({ status: { $in: ['SUCCESS', 'FAILED'] } });
  }

  async function expectExecutionsToMatch(): Promise<void> {
    const succeeded = await stack.db
      .collection<{ _id: string }>('transactions')
      .find({ status: 'SUCCESS' })
      .map((each) => each._id)
      .toArray();
    const executed = (await stack.simulator.log()).map((row) => row.ref_id.replace(/-\d+$/, ''));
    expect(executed, 'no order executed twice').to.have.length(new Set(executed).size);
    expect(executed.sort()).to.deep.equal(succeeded.sort());
  }

  interface Told {
    /** `<transaction> <status>` of every final state that came. */
    states: Set<string>;
    /** Resolves when what is in the inbox now has been read; later messages are not. */
    end(): Promise<void>;
  }

  /** By what the inbox really got, not by what we believe was sent; read as it comes, for it keeps the last 10,000. */
  function collectTold(): Told {
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

  async function expectEveryFinalStateTold(told: Told): Promise<void> {
    const wanted = await stack.db
      .collection<{ _id: string; status: string }>('transactions')
      .find({})
      .map((each) => `${each._id} ${each.status.toLowerCase()}`)
      .toArray();
    await eventually(
      'a webhook for every final state',
      () => {
        const missing = wanted.filter((each) => !told.states.has(each));
        if (missing.length > 0) {
          throw new Error(`${missing.length} of ${wanted.length} not told, such as ${missing[0] ?? ''}`);
        }
        return true;
      },
      60_000,
    );
    await told.end();
  }
});

async function inParallel<T>(items: T[], workers: number, run: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        await run(item);
      }
    }),
  );
}
