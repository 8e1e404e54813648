/** The metrics that each process exposes on its own port. */
import http from 'node:http';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { request } from 'undici';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { eventually } from '../support/eventually.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import { waitUntilAllFinal } from '../support/purchases.js';
import { scrape, getMetricsUrl, valueOf } from '../support/scrape.js';
import { sizes } from '../support/sizes.js';
import { startStack, type SeededAccount, type Stack } from '../support/stack.js';
import type { RunningProgram } from '../support/start-program.js';

const readiness = async (url: string): Promise<{ status: number; reason?: string }> => {
  const { statusCode, body } = await request(`${url}/readyz`);
  return { ...((await body.json()) as object), status: statusCode };
};

describe('metrics of a process', function () {
  this.timeout(120_000);
  let stack: Stack;
  let redis: PrivateRedis;
  let accounts: Record<string, SeededAccount>;
  let web: RunningProgram;
  let worker: RunningProgram;

  before(async () => {
    redis = await startPrivateRedis();
    stack = await startStack({
      web: false,
      env: { METRICS_PORT: '0', REDIS_URL: redis.url, LOG_LEVEL: 'info' },
    });
    accounts = await stack.seed();
    [web, worker] = await Promise.all([stack.startWeb(), stack.startWorker('all')]);
  });
  after(async () => {
    await stack.stop();
    await redis.stop();
  });

  it('count by operation, code, provider, job and event, never by account', async () => {
    const buyer = apiClient(web.url, accounts['buyer']?.api_key ?? '');
    await buyer.post('/api/buyer/deposit', { amount: 100_000, ref_id: uniqueRef() });
    const bought = await buyer.post('/api/buyer/transaction', {
      code: 'S10',
      customer_number: '081234561230',
      ref_id: uniqueRef(),
    });
    expect(bought.status).to.equal(200);
    await buyer.get('/api/buyer/transactions/nothing-of-mine');
    await apiClient(web.url, 'nobody').get('/v1/wallet/balance');
    await waitUntilAllFinal(stack, 30_000);

    const [webSamples, workerSamples] = await Promise.all([
      getMetricsUrl(web).then(scrape),
      getMetricsUrl(worker).then(async (url) =>
        eventually('the webhook is sent', async () => {
          const found = await scrape(url);
          return (valueOf(found, 'topup_webhook_attempts_total') ?? 0) > 0 ? found : null;
        }),
      ),
    ]);
    const calls = { operation: 'createBuyerTransaction', status: '200' };
    expect(valueOf(webSamples, 'topup_http_requests_total', calls), 'calls of the buyer').to.equal(1);
    const stranger = { operation: 'getWalletBalance' };
    expect(valueOf(webSamples, 'topup_http_requests_total', stranger), 'a wrong key is counted').to.equal(1);
    expect(valueOf(webSamples, 'topup_http_judged_total', stranger), 'but it is not judged').to.equal(0);
    expect(valueOf(webSamples, 'topup_http_judged_total', { operation: calls.operation })).to.equal(1);
    expect(valueOf(webSamples, 'topup_http_failures_total', { operation: calls.operation })).to.equal(0);
    expect(valueOf(webSamples, 'topup_posting_group_size_count')).to.be.at.least(2);
    expect(valueOf(webSamples, 'topup_process_ready')).to.equal(1);
    const success = { outcome: 'success' };
    expect(valueOf(workerSamples, 'topup_purchase_duration_seconds_count', success)).to.equal(1);
    expect(valueOf(workerSamples, 'topup_provider_order_duration_seconds_count')).to.be.at.least(1);
    expect(
      valueOf(workerSamples, 'topup_job_duration_seconds_count', { job_name: 'sweep-purchases' }),
    ).not.to.equal(null);
    const ids = [bought.body.data.transaction_id as string, accounts['buyer']?.username ?? ''];
    for (const { name, labels } of [...webSamples, ...workerSamples]) {
      // Only providers are labelled by seller, so the number of label values is bounded.
      Object.values(labels).forEach((label) => {
        expect(ids, name).not.to.include(label);
      });
    }
  });

  it('include the figures of the whole service in the follow-up process only', async () => {
    const url = await getMetricsUrl(worker);
    const found = await eventually('the figures are there', async () => {
      const samples = await scrape(url);
      return valueOf(samples, 'topup_figures_timestamp_seconds') === null ? null : samples;
    });
    expect(valueOf(found, 'topup_queue_workers', { queue: 'fulfilment' })).to.equal(1);
    expect(valueOf(found, 'topup_queue_jobs', { queue: 'schedules', state: 'failed' })).to.equal(0);
    expect(valueOf(found, 'topup_open_purchases')).to.be.a('number');
    expect(valueOf(found, 'topup_suspense_rupiah')).to.be.a('number');
    expect(valueOf(found, 'topup_late_work', { kind: 'purchases' })).to.equal(0);
    const broken = (state: string) => valueOf(found, 'topup_receivers_broken', { state });
    expect([broken('disabled'), broken('left_alone')]).to.deep.equal([0, 0]);
    expect(valueOf(found, 'topup_deliveries_due')).to.be.a('number');
    expect(valueOf(found, 'topup_sweep_done_timestamp_seconds', { sweep: 'purchases' })).to.be.greaterThan(0);
    expect(valueOf(found, 'topup_attention', { kind: 'reviews' })).to.equal(0);
    expect(valueOf(found, 'topup_provider_circuit_state')).to.equal(0);
    expect(valueOf(found, 'topup_redis_memory_bytes')).to.be.greaterThan(0);
    expect(valueOf(found, 'topup_processes', { state: 'alive' })).to.be.at.least(1);
    expect(valueOf(await scrape(await getMetricsUrl(web)), 'topup_open_purchases')).to.equal(null);
    // A process that has just started has not checked its indexes yet.
    await eventually(
      'all processes are ready',
      async () => valueOf(await scrape(url), 'topup_processes_not_ready') === 0,
      40_000,
    );
  });

  it('report the amount owed to sellers and the broken receivers', async () => {
    const url = await getMetricsUrl(worker);
    const owed = async () => {
      const samples = await scrape(url);
      return ['balance', 'held', 'unposted'].map((part) =>
        valueOf(samples, 'topup_sellers_owed_rupiah', { part }),
      );
    };
    const rows = (name: string) => stack.db.collection<{ _id: string }>(name);
    const wallets = await rows('wallets').find().toArray();
    const sellers = await rows('accounts').find({ role: 'seller' }).toArray();
    const ids = sellers.map(({ _id }) => _id);
    const sum = (field: 'balance' | 'held') =>
      wallets
        .filter(({ _id }) => ids.includes(_id))
        .reduce((total, wallet) => total + Number((wallet as never)[field]), 0);
    expect(sum('balance'), 'balance of the seller').to.be.greaterThan(0);
    await eventually(
      'the metric has the debt',
      async () => {
        expect(await owed()).to.deep.equal([sum('balance'), sum('held'), 0]);
        return true;
      },
      40_000,
    );
    const [disabled, leftAlone] = [uniqueRef('r'), uniqueRef('r')];
    const health = { accountId: 'nobody', address: '', failures: 1, timeouts: 0, openMs: 0 };
    await stack.db.collection('webhookReceivers').insertMany([
      { ...health, _id: disabled as never, disabledAt: new Date(0), openUntil: null },
      { ...health, _id: leftAlone as never, disabledAt: null, openUntil: new Date(Date.now() + 600_000) },
    ]);
    await eventually(
      'both receivers are counted',
      async () => {
        const samples = await scrape(url);
        const broken = (state: string) => valueOf(samples, 'topup_receivers_broken', { state });
        return broken('disabled') === 1 && broken('left_alone') === 1;
      },
      40_000,
    );
    await stack.db.collection('webhookReceivers').deleteMany({ accountId: 'nobody' });
  });

  it('are not on the public port, and only on METRICS_HOST', async () => {
    expect((await request(`${web.url}/metrics`)).statusCode).to.equal(404);
    const { port } = new URL(await getMetricsUrl(web));
    // Connect to another address of this machine.
    const refused = await new Promise((resolve) => {
      http
        .get(`http://127.0.0.2:${port}/metrics`, () => {
          resolve('answered');
        })
        .on('error', (error: NodeJS.ErrnoException) => {
          resolve(error.code);
        });
    });
    expect(refused).to.equal('ECONNREFUSED');
  });

  it('report a worker as not ready while Redis refuses writes', async () => {
    const url = await getMetricsUrl(worker);
    expect(await readiness(url)).to.deep.equal({ status: 200 });
    const client = new Redis(redis.url);
    try {
      await client.config('SET', 'maxmemory', '1');
      const answer = await eventually('the worker is not ready', async () => {
        const found = await readiness(url);
        return found.status === 503 ? found : null;
      });
      expect(answer.reason).to.match(/Redis is full/);
      expect(valueOf(await scrape(url), 'topup_redis_up')).to.equal(0);
      expect((await request(`${url}/healthz`)).statusCode).to.equal(200);
    } finally {
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
    }
    await eventually('the worker is ready', async () => (await readiness(url)).status === 200);
  });

  it('are disabled without METRICS_PORT', async () => {
    const quiet = await stack.startWeb({ METRICS_PORT: '' });
    expect(quiet.output()).not.to.include('metrics are served');
    await quiet.stop();
  });

  (sizes.silence.isPlayed ? it : it.skip)(
    'report a suspended process as silent to the others @sized',
    async () => {
      const stuck = await stack.startWorker('reports');
      const url = await getMetricsUrl(worker);
      const silent = async () =>
        valueOf(await scrape(url), 'topup_processes', { type: 'reports', state: 'silent' });
      await eventually('the process is known', async () => (await silent()) === 0, 40_000);
      stuck.process.kill('SIGSTOP');
      try {
        await eventually('the process is silent', async () => (await silent()) === 1, 60_000);
      } finally {
        stuck.process.kill('SIGCONT');
      }
      await eventually('the process is back', async () => (await silent()) === 0, 40_000);
      await stuck.stop();
    },
  );

  it('report a killed web process, but no number while Redis refuses writes', async () => {
    const url = await getMetricsUrl(worker);
    const alive = async () => valueOf(await scrape(url), 'topup_web_processes');
    await eventually('the web process is counted', async () => (await alive()) === 1, 40_000);
    await web.stop('SIGKILL');
    await eventually('the web process is missing', async () => (await alive()) === 0, 40_000);
    const client = new Redis(redis.url);
    await client.config('SET', 'maxmemory', '1');
    try {
      await eventually('the number is unknown', async () => (await alive()) === null, 40_000);
    } finally {
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
    }
  });
});
