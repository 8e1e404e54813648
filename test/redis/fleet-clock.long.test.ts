/** The Redis time that a process measures if Redis is distant and the host clock is wrong. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { getBuiltProgramPath } from '../../config/project-file.js';
import { apiClient, uniqueRef } from '../support/api-client.js';
import { deposit } from '../support/deposit.js';
import { eventually } from '../support/eventually.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';
import { startStack, type Stack } from '../support/stack.js';
import { startProgram } from '../support/start-program.js';
import { buildEnvWithClockAhead } from '../support/wrong-clock.js';

const elevenMinutes = 660_000;
/**
 * Delay in each direction, in milliseconds. The round trip takes longer than the other timeouts of
 * the process.
 */
const slowMs = 200;

interface ReportedTimes {
  nowMs: number;
  hostMs: number;
}

describe('fleet clock with a slow Redis on a host eleven minutes ahead', () => {
  let gate: TcpGate;
  const started: ChildProcess[] = [];

  beforeEach(async () => (gate = await startTcpGate(process.env['REDIS_URL'] ?? '')));
  afterEach(async () => {
    started.splice(0).forEach((each) => each.kill('SIGKILL'));
    await gate.stop();
  });

  it('uses a late reply, which is off by at most half the round trip', async () => {
    gate.delay(slowMs);
    const child = forkTestProgram('test/redis/clock-process', {
      ...buildEnvWithClockAhead(elevenMinutes),
      REDIS_URL: gate.url,
    });
    started.push(child);
    const [told] = (await once(child, 'message')) as [ReportedTimes];
    // Redis runs on this host, whose clock is right.
    expect(told.hostMs - told.nowMs).to.be.within(elevenMinutes - 2_000, elevenMinutes + 2_000);
  });

  for (const [script, ...args] of [['src/server.js'], ['workers/run.js', 'fulfilment']] as const) {
    it(`is set before a process is ready: ${[script, ...args].join(' ')}`, async () => {
      gate.delay(slowMs);
      const env = {
        ...buildEnvWithClockAhead(elevenMinutes),
        REDIS_URL: gate.url,
        LOG_LEVEL: 'info',
        PORT: '0',
      };
      const child = fork(getBuiltProgramPath(script), args, {
        env,
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      });
      started.push(child);
      let printed = '';
      child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      await eventually('the process is ready', () => /"(web is|workers are) ready"/.test(printed), 30_000);
      const [before] = printed.split(/"(?:web is|workers are) ready"/);
      expect(before).to.include("this host's clock differs from that of Redis");
    });
  }
});

describe('a purchase with a distant worker that is eleven minutes ahead', () => {
  let stack: Stack;
  let gate: TcpGate;

  before(async () => {
    gate = await startTcpGate(process.env['REDIS_URL'] ?? '');
    stack = await startStack();
  });
  after(async () => {
    await stack.stop();
    await gate.stop();
  });

  it('is sold and not refunded as expired', async () => {
    const buyer = apiClient(stack.baseUrl, (await stack.seed())['buyer']?.api_key ?? '');
    await deposit(buyer, 100_000);
    const order = { code: 'S10', customer_number: '081234567890', ref_id: uniqueRef() };
    const { body } = await buyer.post('/api/buyer/transaction', order);
    await stack.db
      .collection('accounts')
      .updateMany({ provider: { $type: 'object' } }, { $set: { 'provider.maxWaitS': 600 } });
    gate.delay(slowMs);
    const { NODE_OPTIONS } = buildEnvWithClockAhead(elevenMinutes);
    const worker = await startProgram('workers/run.js', ['fulfilment'], {
      ...stack.env,
      REDIS_URL: gate.url,
      NODE_OPTIONS,
    });
    const purchases = stack.db.collection<{ _id: string; status: string }>('transactions');
    const status = await eventually(
      'the purchase is final',
      async () => {
        const found = await purchases.findOne({ _id: body.data.transaction_id as string });
        return found && ['SUCCESS', 'FAILED'].includes(found.status) && found.status;
      },
      30_000,
    );
    gate.delay(0);
    await worker.stop();
    expect(status).to.equal('SUCCESS');
  });
});
