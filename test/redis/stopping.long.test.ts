/**
 * After SIGTERM each process exits with code 0 within 25 s, even with work in progress and with
 * unreachable databases.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { expect } from 'chai';
import { limits } from '../../config/limits.js';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';
import { productionEnv } from '../support/production-env.js';
import { startProgram, type RunningProgram } from '../support/start-program.js';
import { startStack, type Stack } from '../support/stack.js';

const stopLimitMs = 5_000;

describe('graceful shutdown', function () {
  this.timeout(150_000);
  let stack: Stack;
  let gate: TcpGate;
  let buyer: ApiClient;

  before(async () => {
    gate = await startTcpGate(process.env['REDIS_URL'] ?? '');
    stack = await startStack({ env: { ...productionEnv(), NODE_ENV: 'test', APP_MODE: 'sandbox' } });
    buyer = apiClient(stack.baseUrl, (await stack.seed())['buyer']?.api_key ?? '');
    await deposit(buyer, 1_000_000);
  });
  after(async () => {
    await gate.restore();
    await stack.stop();
    await gate.stop();
  });

  async function stopAndMeasure(program: RunningProgram): Promise<{ code: number | null; tookMs: number }> {
    const startedAt = performance.now();
    const code = await program.stop();
    return { code, tookMs: performance.now() - startedAt };
  }

  it('leaves a long order SENT for the next worker, which does not resend it', async () => {
    // Use live mode. The short timeouts of the sandbox would end the provider call before the
    // stopping process stops waiting for it.
    const live = { ...stack.env, APP_MODE: 'live' };
    const worker = await startProgram('workers/run.js', ['fulfilment', 'follow-up'], live);
    await stack.simulator.control({ latency_ms: 60_000 });
    const body = { code: 'S10', customer_number: '081234567890', ref_id: uniqueRef() };
    const id = String((await buyer.post('/api/buyer/transaction', body)).body.data.transaction_id);
    await eventually('the provider has the order', async () => (await stack.simulator.log()).length === 1);

    const { code, tookMs } = await stopAndMeasure(worker);
    expect(code, worker.output()).to.equal(0);
    expect(tookMs).to.be.within(limits.drainMs - 1_000, 25_000);
    const orders = stack.db.collection('attempts').find({ transactionId: id });
    expect((await orders.toArray()).map((each) => String(each['status']))).to.deep.equal(['SENT']);

    await stack.simulator.control({ latency_ms: 0 });
    const next = await startProgram('workers/run.js', ['fulfilment', 'follow-up'], live);
    await eventually(
      'the purchase succeeds',
      async () => (await buyer.get(`/v1/transactions/${id}`)).body.data.status === 'SUCCESS',
      60_000,
    );
    expect(await stack.simulator.log()).to.have.length(1);
    expect((await stopAndMeasure(next)).code).to.equal(0);
  });

  it('web: sends Connection: close to a busy client and ends at once', async () => {
    const web = await stack.startWeb();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
    const connectionHeaders: (string | undefined)[] = [];
    const call = async (): Promise<void> => {
      const request = http.get(`${web.url}/healthz`, { agent });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      connectionHeaders.push(response.headers.connection);
      response.resume();
      await once(response, 'end');
    };
    let isGone = false;
    const clients = Array.from({ length: 4 }, async () => {
      while (!isGone) {
        await call().catch(() => (isGone = true));
      }
    });
    await eventually('calls over kept connections', () => connectionHeaders.length > 20);
    const { code, tookMs } = await stopAndMeasure(web);
    await Promise.all(clients);
    agent.destroy();
    expect(code, web.output()).to.equal(0);
    expect(tookMs).to.be.below(stopLimitMs);
    expect(connectionHeaders.slice(0, 20)).not.to.include('close');
  });

  it('web: responds to earlier calls with Connection: close', async () => {
    const slow = await stack.startWeb({ RESELLER_SYNC_WAIT_MS: '3000', REPORT_SYNC_WAIT_MS: '3000' });
    const key = (await stack.seed())['buyer']?.api_key ?? '';
    const agent = new http.Agent({ keepAlive: true });
    const asked = http.request(`${slow.url}/api/buyer/reports`, {
      agent,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    asked.end(JSON.stringify({ type: 'transaction' }));
    const answered = once(asked, 'response') as Promise<[http.IncomingMessage]>;
    // No worker runs here, so the call waits for its report.
    await eventually('the report is requested', () => stack.db.collection('reports').findOne({}));
    const stopping = stopAndMeasure(slow);
    const [response] = await answered;
    response.resume();
    expect(response.statusCode).to.equal(202);
    expect(response.headers.connection).to.equal('close');
    const { code, tookMs } = await stopping;
    agent.destroy();
    expect(code, slow.output()).to.equal(0);
    expect(tookMs).to.be.below(3_000 + stopLimitMs);
  });

  for (const [how, begin] of [
    ['refuses connections', () => gate.cut()],
    ['does not respond', () => gate.hang()],
  ] as const) {
    it(`all workers: end at once while Redis ${how}`, async () => {
      const worker = await startProgram('workers/run.js', ['all'], { ...stack.env, REDIS_URL: gate.url });
      await begin();
      const away = how === 'does not respond' ? null : /redis is unavailable/;
      await eventually('the worker notices', () => away === null || away.test(worker.output()));
      const { code, tookMs } = await stopAndMeasure(worker);
      await gate.restore();
      expect(code, worker.output()).to.equal(0);
      // If Redis does not respond for 5 s, it counts as unreachable.
      expect(tookMs).to.be.below(away === null ? 3 * stopLimitMs : stopLimitMs);
    });
  }

  it('worker: ends at once and is never ready without Redis', async () => {
    await gate.cut();
    const child = fork(getBuiltProgramPath('workers/run.js'), ['all'], {
      env: { ...stack.env, REDIS_URL: gate.url },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let printed = '';
    let isReady = false;
    child.on('message', () => (isReady = true));
    child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const exit = once(child, 'exit') as Promise<[number | null]>;
    await eventually('the worker notices', () => printed.includes('redis is unavailable'));
    const startedAt = performance.now();
    child.kill('SIGTERM');
    const [code] = await exit;
    await gate.restore();
    expect(code, printed).to.equal(0);
    expect(performance.now() - startedAt).to.be.below(stopLimitMs);
    expect(isReady).to.equal(false);
  });
});
