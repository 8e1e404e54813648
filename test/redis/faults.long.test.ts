/** What a network does to connections that stand: it forgets them, and it grows slow. Purchases go on. */
import { expect } from 'chai';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToHold } from '../support/ledger.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';
import { everyPurchaseFinal, expectExecutionsToMatch } from '../support/purchases.js';
import { startStack, type Stack } from '../support/stack.js';

const healWithinMs = 20_000;
/** Longer than a connection is given up after, and shorter than that. */
const slow = [12_000, 1_500];
const moreMs = 50;

describe('a network between us and Redis', function () {
  this.timeout(120_000);
  let stack: Stack;
  let gate: TcpGate;
  let buyer: ApiClient;

  before(async () => {
    gate = await startTcpGate(process.env['REDIS_URL'] ?? '');
    stack = await startStack({ workers: ['all'], env: { REDIS_URL: gate.url } });
    buyer = apiClient(stack.baseUrl, (await stack.seed())['buyer']?.api_key ?? '');
    await deposit(buyer, 10_000_000);
    await buy();
    await everyPurchaseFinal(stack, 20_000);
  });
  after(async () => {
    await gate.restore();
    await stack.stop();
    await gate.stop();
  });

  /** @returns milliseconds until it was answered. */
  async function buy(): Promise<number> {
    const startedAt = performance.now();
    const body = { code: 'S10', customer_number: '081234561230', ref_id: uniqueRef() };
    const answer = await buyer.post('/api/buyer/transaction', body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return performance.now() - startedAt;
  }

  async function buyMany(count: number): Promise<number[]> {
    const took: number[] = [];
    while (took.length < count) {
      took.push(await buy());
    }
    return took;
  }

  const median = (all: number[]) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;

  it(`forgets every connection that stands, and takes new ones: 41 purchases are fulfilled, all of it within ${healWithinMs / 1_000} s`, async () => {
    gate.swallow();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 41 }, buy));
    await everyPurchaseFinal(stack, healWithinMs - (performance.now() - startedAt));
    await expectExecutionsToMatch(stack);
    await expectLedgerToHold(stack);
  });

  for (const slowMs of slow) {
    it(`answers after ${slowMs / 1_000} s: a purchase costs at most ${moreMs} ms more, after the first ones, and is fulfilled when it is quick again`, async () => {
      await buy();
      await everyPurchaseFinal(stack, 20_000);
      const usual = median(await buyMany(15));
      await everyPurchaseFinal(stack, 20_000);
      gate.delay(slowMs / 2);
      // The first ones find it out.
      await buyMany(3);
      const then = await buyMany(15);
      await gate.restore();
      const shown = `usual ${usual.toFixed()} ms, then ${then.map((ms) => ms.toFixed()).join(' ')}`;
      expect(median(then), shown).to.be.below(usual + moreMs);
      await everyPurchaseFinal(stack, 60_000);
      await expectExecutionsToMatch(stack);
      await expectLedgerToHold(stack);
    });
  }

  it('a worker that has not reached Redis is not ready; it is when Redis answers', async () => {
    await gate.cut();
    let isReady = false;
    const worker = stack.startWorker('settlements').then((program) => {
      isReady = true;
      return program;
    });
    // Those that ran before are through with their own trouble: so long a worker would have to say that it is ready.
    const web = await stack.startWeb();
    await eventually('a line about Redis', () => web.output().includes('redis is away'));
    await web.stop();
    expect(isReady, 'ready without Redis').to.equal(false);
    await gate.restore();
    expect(await (await worker).stop()).to.equal(0);
  });
});
