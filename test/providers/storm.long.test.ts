/**
 * Purchases at three sellers. One refuses a fifth of the orders, one executes a tenth without a
 * response, and one goes down. Workers are killed at random. The long size has 10,000 purchases.
 * SEED=<n> replays a run.
 */
import { expect } from 'chai';
import { Long } from 'mongodb';
import type { Order } from '../../src/purchases/order.model.js';
import type { Purchase } from '../../src/purchases/purchase.model.js';
import { uniqueRef, type ApiClient } from '../support/api-client.js';
import { announceChange } from '../support/announce-change.js';
import { eventually } from '../support/eventually.js';
import { seededRandom } from '../support/random.js';
import { sizes } from '../support/sizes.js';
import type { RunningProgram } from '../support/start-program.js';
import { startStack, type Stack } from '../support/stack.js';
import { addProduct, ledgerOf, newBuyer, pointSeller, type TestSeller } from './provider-stack.js';

const size = sizes.storm;

const acceptedPrice = 10_200;

describe('a storm over three sellers', function () {
  this.timeout(size.limitMs + 120_000);
  let stack: Stack;
  let buyer: ApiClient;
  let sellers: TestSeller[];
  let codes: string[];
  const random = seededRandom();

  before(async () => {
    stack = await startStack({ env: { FULFILMENT_CONCURRENCY: '20' } });
    const accounts = await stack.seed();
    sellers = await Promise.all(
      ['seller', 'seller2', 'seller3'].map((username) =>
        pointSeller(stack, username, {
          kind: 'simulator',
          baseUrl: null,
          username: `storm-${username}`,
          secret: stack.simulator.secret,
        }),
      ),
    );
    codes = await Promise.all(
      sellers.map(() =>
        addProduct(
          stack,
          sellers.map(({ id }) => ({ sellerId: id, price: acceptedPrice })),
        ),
      ),
    );
    buyer = await newBuyer(stack, accounts['buyer']?.api_key ?? '');
    const [refusing, silent] = sellers;
    await stack.simulator.control({
      providers: {
        [refusing?.username ?? '']: { refuse_rate: 0.2 },
        [silent?.username ?? '']: { timeout_after_execute_rate: 0.1 },
      },
    });
  });
  after(() => stack.stop());

  it(`every purchase is final or in review, none executes twice, and the ledger balances`, async () => {
    process.stdout.write(`    ${random.seed}, ${size.purchases} purchases\n`);
    const ids = await buyAll(buyer, codes, random);
    // Lower the prices after acceptance, so that every seller may execute every order. Each product
    // is cheapest at a different seller.
    await lowerPrices(stack, sellers, codes);
    const outage = playOutage(stack, sellers[2]?.username ?? '');
    const workers = [
      await stack.startWorker('fulfilment', 'follow-up'),
      await stack.startWorker('fulfilment', 'follow-up'),
      await stack.startWorker('sellers', 'webhooks'),
    ];
    const killer = startRandomKills(stack, workers, random);
    await outage.done();
    await waitUntilAllFinal(stack, ids);
    await killer.stop();
    await expectCorrectResults(stack, ids, sellers);
  });

  async function buyAll(client: ApiClient, products: string[], chance: () => number): Promise<string[]> {
    const ids: string[] = [];
    let next = 0;
    const buyOne = async (): Promise<void> => {
      for (let index = next++; index < size.purchases; index = next++) {
        const body = {
          product_code: products[Math.floor(chance() * products.length)],
          // The simulator has no scenario for numbers with this ending.
          destination: `08${String(index).padStart(8, '0')}00`,
          ref_id: uniqueRef('storm'),
        };
        const answer = await client.post('/v1/transactions', body);
        expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
        ids.push(answer.body.data.id as string);
      }
    };
    await Promise.all(Array.from({ length: size.atOnce }, buyOne));
    return ids;
  }
});

async function lowerPrices(stack: Stack, sellers: TestSeller[], codes: string[]): Promise<void> {
  const offers = stack.db.collection<{ _id: string }>('offers');
  for (const [shift, code] of codes.entries()) {
    for (const [index, { id }] of sellers.entries()) {
      const price = Long.fromNumber(acceptedPrice - 100 * ((index + shift) % 3));
      await offers.updateOne({ _id: `${code}:${id}` }, { $set: { price } });
    }
  }
  await announceChange(stack);
}

/**
 * Stops the third seller when a third of the purchases are final, and starts it again when more are
 * final.
 */
function playOutage(stack: Stack, username: string): { done(): Promise<void> } {
  const play = async (): Promise<void> => {
    const final = async (count: number) =>
      eventually(`${count} final ones`, async () => (await finalCount(stack)) >= count, size.limitMs);
    await final(size.purchases / 3);
    await stack.simulator.control({ providers: { [username]: { down: true } } });
    await final(size.purchases / 3 + size.finalDuringOutage);
    await stack.simulator.control({ providers: { [username]: null } });
  };
  const finished = play();
  return { done: () => finished };
}

function finalCount(stack: Stack): Promise<number> {
  return stack.db.collection('transactions').countDocuments({ status: { $in: ['SUCCESS', 'FAILED'] } });
}

/** Kills a worker after every few final purchases and replaces it. */
function startRandomKills(
  stack: Stack,
  workers: RunningProgram[],
  random: () => number,
): { stop(): Promise<void> } {
  let isOver = false;
  let kills = 0;
  const play = async (): Promise<void> => {
    while (!isOver) {
      const due = (await finalCount(stack)) + size.finalBetweenKills * (0.5 + random());
      await eventually('the next kill', async () => isOver || (await finalCount(stack)) >= due, size.limitMs);
      const victim = Math.floor(random() * 2);
      await workers[victim]?.stop('SIGKILL');
      workers[victim] = await stack.startWorker('fulfilment', 'follow-up');
      kills += 1;
    }
    process.stdout.write(`    ${kills} workers killed\n`);
    expect(kills, 'killed workers').to.be.at.least(1);
  };
  const finished = play();
  return {
    stop() {
      isOver = true;
      return finished;
    },
  };
}

async function waitUntilAllFinal(stack: Stack, ids: string[]): Promise<void> {
  expect(ids).to.have.length(size.purchases);
  await eventually(
    'every purchase is final or in review',
    async () => {
      const open = await stack.db
        .collection('transactions')
        .countDocuments({ status: { $in: ['PENDING', 'PROCESSING'] }, reviewSince: null });
      return open === 0;
    },
    size.limitMs,
  );
}

async function expectCorrectResults(stack: Stack, ids: string[], sellers: TestSeller[]): Promise<void> {
  const transactions = await stack.db
    .collection<Purchase>('transactions')
    .find({ _id: { $in: ids } })
    .toArray();
  const attempts = await stack.db
    .collection<Order>('attempts')
    .find({ transactionId: { $in: ids } })
    .toArray();
  const usernameOf = new Map(sellers.map(({ id, username }) => [id, username]));
  const executions = (await stack.simulator.log()).filter(({ provider }) => provider.startsWith('storm-'));
  const executedOf = groupBy(executions, ({ ref_id: refId }) => refId.split('-')[0] ?? '');
  const reviews = transactions.filter(({ reviewSince }) => reviewSince !== null);
  for (const transaction of transactions) {
    const executed = executedOf.get(transaction._id) ?? [];
    const what = `${transaction._id} ${transaction.status}`;
    if (transaction.status === 'SUCCESS') {
      const sold = attempts.filter((each) => each.transactionId === transaction._id && each.status === 'OK');
      expect(sold, what).to.have.length(1);
      expect(executed, what).to.have.length(1);
      expect(executed[0], what).to.include({
        ref_id: sold[0]?._id,
        provider: usernameOf.get(sold[0]?.sellerId ?? ''),
      });
    } else {
      expect(executed, what).to.have.length(transaction.status === 'FAILED' ? 0 : executed.length);
      expect(executed.length, what).to.be.below(2);
    }
  }
  const { sums, wallets } = await ledgerOf(stack);
  expect(Object.values(sums).reduce((total, sum) => total + sum, 0)).to.equal(0);
  expect(sums['platform:suspense'] ?? 0).to.equal(reviews.reduce((total, { price }) => total + price, 0));
  for (const [id, balance] of Object.entries(wallets)) {
    expect(sums[`wallet:${id}`] ?? 0, id).to.equal(balance);
  }
  report(transactions, attempts, reviews);
}

function report(transactions: Purchase[], attempts: Order[], reviews: Purchase[]): void {
  const attemptsOf = groupBy(attempts, ({ transactionId }) => transactionId);
  // Measure from the first order on, without the time in the queue.
  const timeOf = ({ _id, finalAt }: Purchase) => {
    const sent = (attemptsOf.get(_id) ?? []).map(({ sentAt }) => sentAt?.getTime() ?? Infinity);
    return (finalAt?.getTime() ?? 0) - Math.min(...sent);
  };
  const meanMs = (of: Purchase[]) =>
    Math.round(of.reduce((sum, each) => sum + timeOf(each), 0) / Math.max(1, of.length));
  // Include only orders that got a response immediately, because the wait for a lost response is
  // not a cost of failover.
  const sold = transactions.filter(({ status, _id }) => {
    return status === 'SUCCESS' && (attemptsOf.get(_id) ?? []).every(({ checks }) => checks === 0);
  });
  const direct = sold.filter(({ _id }) => attemptsOf.get(_id)?.length === 1);
  const failedOver = sold.filter(({ _id }) => (attemptsOf.get(_id)?.length ?? 0) > 1);
  const count = (status: string) => transactions.filter((each) => each.status === status).length;
  process.stdout.write(
    `    ${count('SUCCESS')} success, ${count('FAILED')} failed, ${reviews.length} in review\n` +
      `    to final: ${meanMs(direct)} ms at the first seller (${direct.length}), ` +
      `${meanMs(failedOver)} ms after a failover (${failedOver.length}): ${meanMs(failedOver) - meanMs(direct)} ms more\n`,
  );
}

function groupBy<T>(rows: T[], keyOf: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  }
  return groups;
}
