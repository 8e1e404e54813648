/**
 * A worker whose event loop is blocked for half a minute. Tests its detection and the orders that
 * it had in progress.
 */
import path from 'node:path';
import { expect } from 'chai';
import { request } from 'undici';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { newBuyer, ledgerOf } from '../providers/provider-stack.js';
import type { ApiClient } from '../support/api-client.js';
import { uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { waitUntilAllFinal } from '../support/purchases.js';
import { scrape, getMetricsUrl, valueOf } from '../support/scrape.js';
import { sizes } from '../support/sizes.js';
import { startStack, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';
import { topup } from '../support/topup.js';

(sizes.silence.isPlayed ? describe : describe.skip)('a worker whose event loop is blocked', function () {
  this.timeout(180_000);
  let stack: Stack;
  let blocked: RunningProgram;
  let buyer: ApiClient;
  let other: ApiClient;

  before(async () => {
    stack = await startStack({
      env: {
        METRICS_PORT: '0',
        LOG_LEVEL: 'info',
        NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --require ${path.resolve('test/support/block-on-signal.cjs')}`,
      },
    });
    const accounts = await stack.seed();
    buyer = await newBuyer(stack, accounts['buyer']?.api_key ?? '');
    other = await newBuyer(stack, accounts['buyer2']?.api_key ?? '');
    [blocked] = await Promise.all([
      stack.startWorker('fulfilment', 'follow-up'),
      stack.startWorker('fulfilment', 'follow-up'),
    ]);
  });
  after(() => stack.stop());

  const buy = (client: ApiClient) =>
    Promise.all(
      Array.from({ length: 20 }, async () => {
        const body = { code: 'S10', customer_number: '081234567890', ref_id: uniqueRef('blocked') };
        const { status, body: answer } = await client.post('/api/buyer/transaction', body);
        expect(status, JSON.stringify(answer)).to.equal(200);
        return answer.data.transaction_id as string;
      }),
    );
  const processCheck = async (): Promise<Diagnosis | undefined> =>
    (await topup(['doctor', '--json'], stack.env))
      .json<{ checks: Diagnosis[] }>()
      .checks.find(({ name }) => name === 'process fulfilment+follow-up');
  const readiness = async (url: string): Promise<number> => {
    const { statusCode, body } = await request(`${url}/readyz`, { headersTimeout: 1_000 });
    await body.dump();
    return statusCode;
  };

  it('is reported by probe, doctor and metrics, and no order is lost or bought twice', async () => {
    const url = await getMetricsUrl(blocked);
    await eventually('the worker answers within a second', async () => (await readiness(url)) === 200);
    await eventually('both have heartbeats', async () => (await processCheck())?.detail === '2 alive');
    await stack.simulator.control({ providers: { seller: { latency_ms: 500 } } });
    await buy(buyer);
    await eventually('orders are in progress', async () => (await stack.simulator.log()).length > 0);
    blocked.process.kill('SIGWINCH');
    // The process may still respond to one probe that was sent before the signal arrives.
    await eventually('the worker does not answer', async () =>
      /HeadersTimeout/.test(String(await readiness(url).catch((error: unknown) => error))),
    );
    const bought = await buy(other);
    // Only the wallets that the blocked worker was writing stay locked.
    await eventually(
      "the other buyer's purchases succeed",
      async () => {
        const final = { _id: { $in: bought as never[] }, status: 'SUCCESS' };
        return (await stack.db.collection('transactions').countDocuments(final)) === bought.length;
      },
      25_000,
    );
    const named = await eventually(
      'doctor reports the worker',
      async () => {
        const found = await processCheck();
        return found?.status === 'ok' ? null : found;
      },
      40_000,
    );
    expect(named).to.include({ status: 'warn', detail: '1 without a heartbeat for 20 s, 1 alive' });
    await eventually('the worker answers again', async () => (await readiness(url)) === 200, 40_000);
    // This metric is the maximum of the last minute.
    const lag = valueOf(await scrape(url), 'topup_event_loop_lag_max_seconds');
    expect(lag).to.be.greaterThan(25);
    await waitUntilAllFinal(stack, 60_000);
    await eventually('both have heartbeats again', async () => (await processCheck())?.detail === '2 alive');
    const executed = (await stack.simulator.log()).map(({ ref_id: refId }) => refId);
    expect(new Set(executed).size).to.equal(executed.length);
    const sold = await stack.db.collection('transactions').countDocuments({ status: 'SUCCESS' });
    expect([sold, executed.length]).to.deep.equal([40, 40]);
    const { sums, wallets } = await ledgerOf(stack);
    expect(sums['platform:suspense']).to.equal(0);
    for (const [id, balance] of Object.entries(wallets)) {
      expect(sums[`wallet:${id}`] ?? 0, id).to.equal(balance);
    }
  });
});
