/**
 * A full or read-only Redis. The outage is reported, no job is lost, and the service recovers by
 * itself.
 */
import { expect } from 'chai';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToBalance } from '../support/ledger.js';
import { waitUntilAllFinal, expectExecutionsToMatch } from '../support/purchases.js';
import { startRedisServer, type RedisServer } from '../support/redis-servers.js';
import type { RunningProgram } from '../support/start-program.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

describe('a Redis that refuses writes', function () {
  this.timeout(120_000);
  let redis: RedisServer;
  let stack: Stack;
  let web: RunningProgram;
  let worker: RunningProgram;
  let buyer: ApiClient;

  before(async () => {
    redis = await startRedisServer(['--maxmemory', '16mb']);
    stack = await startStack({ web: false, env: { REDIS_URL: redis.url } });
    [web, worker] = await Promise.all([stack.startWeb(), stack.startWorker('all')]);
    buyer = apiClient(web.url, (await stack.seed())['buyer']?.api_key ?? '');
    await deposit(buyer, 10_000_000);
    await buy();
    await waitUntilAllFinal(stack, 20_000);
  });
  after(async () => {
    await stack.stop();
    await redis.stop();
  });

  async function buy(): Promise<void> {
    const body = { code: 'S10', customer_number: '081234561230', ref_id: uniqueRef() };
    const answer = await buyer.post('/api/buyer/transaction', body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
  }

  const readiness = async () => buyer.get('/readyz');
  const linesWith = (program: RunningProgram, text: string) =>
    program
      .output()
      .split('\n')
      .filter((line) => line.includes(text));

  async function expectTrouble(code: string, reason: RegExp): Promise<void> {
    const ready = await eventually('the web process is not ready', async () => {
      const answer = await readiness();
      return answer.status === 503 ? answer : null;
    });
    expect(ready.body).to.include({ mongodb: true, redis: false });
    expect(ready.body.reason).to.match(reason);
    for (let n = 0; n < 50; n++) {
      await buy();
    }
    await eventually('the worker logs it', () => linesWith(worker, `"code":"${code}"`).length > 0);
    const loggedLines = linesWith(web, 'job not added; the sweep will add it').filter((line) =>
      line.includes(`"${code}"`),
    );
    expect(loggedLines, 'log lines for 50 purchases').to.have.length(1);
    const before = await tries(code);
    const startedAt = performance.now();
    await eventually('two seconds are over', () => performance.now() - startedAt > 2_000);
    const { connections, refused } = await tries(code);
    expect(refused, 'refused commands').to.be.above(before.refused);
    const seconds = (performance.now() - startedAt) / 1_000;
    expect((refused - before.refused) / seconds, 'refused commands per second').to.be.below(50);
    expect((connections - before.connections) / seconds, 'new connections per second').to.be.below(20);
    const doctor = await topup(['doctor', '--json'], stack.env);
    const failed = doctor.json<{ checks: Diagnosis[] }>().checks.filter(({ status }) => status === 'fail');
    expect(failed.map(({ name }) => name)).to.include('Redis writes');
    // Heartbeats are missing because Redis refuses writes. No process may be reported as stuck, and
    // Redis counts as reachable.
    expect(doctor.stdout)
      .to.include('Fix Redis first')
      .and.not.match(/kill -9|correct REDIS_URL/);
  }

  /**
   * Counts, from Redis's statistics, the attempts of a process that does not back off. Other load
   * does not affect these figures.
   */
  async function tries(code: string) {
    const info = (await redis.client.info('stats')) + (await redis.client.info('errorstats'));
    const figure = (name: string) => Number(new RegExp(`^${name}(\\d+)`, 'm').exec(info)?.[1] ?? 0);
    return {
      connections: figure('total_connections_received:'),
      // Count only errors with this code. Each new connection also causes two others, because this
      // Redis does not know CLIENT SETINFO.
      refused: figure(`errorstat_${code}:count=`),
    };
  }

  async function expectRecovery(): Promise<void> {
    await eventually('the web process is ready', async () => (await readiness()).status === 200);
    await waitUntilAllFinal(stack, 60_000);
    await expectExecutionsToMatch(stack);
    await expectLedgerToBalance(stack);
  }

  it('full: accepts 50 purchases, reports it and recovers with free memory', async () => {
    const [, maxmemory = ''] = await redis.client.config('GET', 'maxmemory');
    // Far below the current memory use, so that expiring keys do not free enough.
    await redis.client.config('SET', 'maxmemory', '100kb');
    await expectTrouble('OOM', /Redis is full/);
    expect((await topup(['doctor', '--json'], stack.env)).stdout).to.match(
      /"Redis memory",\s*"status":\s*"fail"/,
    );
    await redis.client.config('SET', 'maxmemory', maxmemory);
    await expectRecovery();
  });

  it('read-only: behaves the same and recovers as a master', async () => {
    await redis.client.call('REPLICAOF', '127.0.0.1', '1');
    await expectTrouble('READONLY', /Redis is read-only/);
    await redis.client.call('REPLICAOF', 'NO', 'ONE');
    await expectRecovery();
  });
});
