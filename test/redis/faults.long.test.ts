/** Network faults on open connections (silent loss and high latency). Purchases continue. */
import { expect } from 'chai';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';
import { waitUntilAllFinal, expectExecutionsToMatch } from '../support/purchases.js';
import { startStack, type Stack } from '../support/stack.js';

const recoveryTimeoutMs = 20_000;
/** Latencies in milliseconds. One is above and one is below the connection timeout. */
const slowLatenciesMs = [12_000, 1_500];
const moreMs = 50;

describe('the network to Redis', function () {
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
    await waitUntilAllFinal(stack, 20_000);
  });
  after(async () => {
    await gate.restore();
    await stack.stop();
    await gate.stop();
  });

  /**
   * Makes a purchase.
   * @returns the latency in milliseconds.
   */
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

  it(`drops all connections: 41 purchases end within ${recoveryTimeoutMs / 1_000} s`, async () => {
    gate.dropTraffic();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 41 }, buy));
    await waitUntilAllFinal(stack, recoveryTimeoutMs - (performance.now() - startedAt));
    await expectExecutionsToMatch(stack);
    await expectLedgerToBalance(stack);
  });

  for (const slowMs of slowLatenciesMs) {
    it(`has ${slowMs / 1_000} s latency: purchases take at most ${moreMs} ms more`, async () => {
      await buy();
      await waitUntilAllFinal(stack, 20_000);
      const usual = median(await buyMany(15));
      await waitUntilAllFinal(stack, 20_000);
      gate.delay(slowMs / 2);
      // The latency is detected during the first calls, so they are not measured.
      await buyMany(3);
      const then = await buyMany(15);
      await gate.restore();
      const shown = `usual ${usual.toFixed()} ms, then ${then.map((ms) => ms.toFixed()).join(' ')}`;
      expect(median(then), shown).to.be.below(usual + moreMs);
      await waitUntilAllFinal(stack, 60_000);
      await expectExecutionsToMatch(stack);
      await expectLedgerToBalance(stack);
    });
  }

  it('keeps a worker unready until Redis responds', async () => {
    await gate.cut();
    let isReady = false;
    const worker = stack.startWorker('settlements').then((program) => {
      isReady = true;
      return program;
    });
    // Wait until the web process has logged the outage. A faulty worker would have reported ready
    // by then.
    const web = await stack.startWeb();
    await eventually('the web process logs the outage', () => web.output().includes('redis is unavailable'));
    await web.stop();
    expect(isReady, 'worker is ready without Redis').to.equal(false);
    await gate.restore();
    expect(await (await worker).stop()).to.equal(0);
  });
});
