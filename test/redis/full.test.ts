/** A Redis that takes no writes: it is full, or a replica. Somebody hears of it, nothing is lost, and it goes on by itself. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Diagnosis } from '../../src/doctor/diagnosis.js';
import { apiClient, uniqueRef, type ApiClient } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { expectLedgerToHold } from '../support/ledger.js';
import { everyPurchaseFinal, expectExecutionsToMatch } from '../support/purchases.js';
import { startRedisServer, type RedisServer } from '../support/redis-servers.js';
import type { RunningProgram } from '../support/start-program.js';
import { startStack, type Stack } from '../support/stack.js';
import { topup } from '../support/topup.js';

describe('a Redis that takes no writes', function () {
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
    await everyPurchaseFinal(stack, 20_000);
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
    const ready = await eventually('readiness to say it', async () => {
      const answer = await readiness();
      return answer.status === 503 ? answer : null;
    });
    expect(ready.body).to.include({ mongodb: true, redis: false });
    expect(ready.body.reason).to.match(reason);
    const before = cpuOf(worker.pid);
    const startedAt = performance.now();
    for (let n = 0; n < 50; n++) {
      await buy();
    }
    await eventually('the worker to say it', () => linesWith(worker, `"code":"${code}"`).length > 0);
    const said = linesWith(web, 'a job is not added, the sweep will').filter((line) =>
      line.includes(`"${code}"`),
    );
    expect(said, '50 purchases, one line').to.have.length(1);
    const share = (cpuOf(worker.pid) - before) / (performance.now() - startedAt);
    expect(share, 'share of a core that the worker needs to wait').to.be.below(0.5);
    const doctor = await topup(['doctor', '--json'], stack.env);
    const failed = doctor.json<{ checks: Diagnosis[] }>().checks.filter(({ status }) => status === 'fail');
    expect(failed.map(({ name }) => name)).to.include('Redis writes');
  }

  async function expectRecovery(): Promise<void> {
    await eventually('readiness', async () => (await readiness()).status === 200);
    await everyPurchaseFinal(stack, 60_000);
    await expectExecutionsToMatch(stack);
    await expectLedgerToHold(stack);
  }

  it('full: 50 purchases are accepted, one line tells of it, readiness says 503, doctor fails; with room again all become final', async () => {
    const [, maxmemory = ''] = await redis.client.config('GET', 'maxmemory');
    // Far below what it holds: full for certain, also when a key ends meanwhile.
    await redis.client.config('SET', 'maxmemory', '100kb');
    await expectTrouble('OOM', /Redis is full/);
    expect((await topup(['doctor', '--json'], stack.env)).stdout).to.match(
      /"Redis memory",\s*"status":\s*"fail"/,
    );
    await redis.client.config('SET', 'maxmemory', maxmemory);
    await expectRecovery();
  });

  it('read-only: the same, and all become final when it is a master again', async () => {
    await redis.client.call('REPLICAOF', '127.0.0.1', '1');
    await expectTrouble('READONLY', /Redis is read-only/);
    await redis.client.call('REPLICAOF', 'NO', 'ONE');
    await expectRecovery();
  });
});

/** Milliseconds of computing. Linux only. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
