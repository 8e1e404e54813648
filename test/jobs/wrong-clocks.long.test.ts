/** Jobs on hosts with wrong clocks are due at the same moment everywhere (decision 049). */
import type { ChildProcess } from 'node:child_process';
import { Queue } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { FailingJobModel, type FailingJob } from '../../src/jobs/failing-job.model.js';
import { newId } from '../../src/shared/ids.js';
import { eventually } from '../support/eventually.js';
import { forkTestProgram } from '../support/fork-test-program.js';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.js';
import { buildEnvWithClockAhead } from '../support/wrong-clock.js';
import { useDatabase } from '../webhooks/support/database.js';
import { noteJob, tickJob, tickMs } from './clock-jobs.js';
import type { ClockOrder } from './clock-process.js';

const tenMinutes = 600_000;
const twoHours = 7_200_000;

interface ProcessMessage {
  ready?: true;
  added?: string;
  ran?: string;
}

describe('jobs on hosts with wrong clocks', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let prefix: string;
  const started: ChildProcess[] = [];

  useDatabase();
  before(async () => {
    server = await startPrivateRedis();
    redis = new Redis(server.url);
  });
  beforeEach(() => (prefix = `clocks-${newId()}`));
  afterEach(() => {
    started.splice(0).forEach((each) => each.kill('SIGKILL'));
  });
  after(async () => {
    redis.disconnect();
    await server.stop();
  });

  async function fleetNowMs(): Promise<number> {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  }

  /** Starts a worker on a host whose clock differs by `wrongMs`. */
  async function start(wrongMs: number) {
    const env = { ...buildEnvWithClockAhead(wrongMs), REDIS_URL: server.url, QUEUE_PREFIX: prefix };
    const child = forkTestProgram('test/jobs/clock-process', env, { silent: true });
    started.push(child);
    const messages: ProcessMessage[] = [];
    child.on('message', (message: ProcessMessage) => messages.push(message));
    await eventually('the worker is ready', () => messages.some(({ ready }) => ready), 30_000);
    return {
      async add(job: ClockOrder['job'], delayMs: number): Promise<string> {
        const thingId = newId();
        child.send({ job, thingId, delayMs } satisfies ClockOrder);
        await eventually('the job is added', () => messages.some(({ added }) => added === thingId));
        return thingId;
      },
      runs: (thingId: string) => messages.filter(({ ran }) => ran === thingId).length,
    };
  }

  for (const wrongMs of [tenMinutes, -tenMinutes]) {
    const where = wrongMs > 0 ? 'ahead' : 'behind';

    it(`a delay counts in fleet time when the adding host is ten minutes ${where}`, async () => {
      const worker = await start(wrongMs);
      const beforeMs = await fleetNowMs();
      await worker.add('note', 60_000);
      // The other delayed job is the scheduled one, which runs twice a second.
      const scores = (await redis.zrange(`${prefix}:clocks:delayed`, '0', '-1', 'WITHSCORES')).map(Number);
      const dueMs = Math.max(...scores.filter((each) => each > 1e15)) / 0x1000;
      const afterMs = await fleetNowMs();
      expect(dueMs).to.be.within(beforeMs + 59_900, afterMs + 60_100);
    });

    it(`a lone worker ten minutes ${where} takes a delayed job when due, with few Redis calls`, async () => {
      const worker = await start(wrongMs);
      const dueMs = (await fleetNowMs()) + 1_500;
      const scriptsBefore = await countScriptRuns();
      const thingId = newId();
      const queue = new Queue(noteJob.queue.name, { connection: redis, prefix });
      // Add the job from a host whose clock is right.
      await queue.add(noteJob.name, { v: 1, thingId }, { delay: 1_500 });
      await eventually('the job runs', () => worker.runs(thingId) > 0);
      expect(await fleetNowMs()).to.be.greaterThan(dueMs - 100);
      // About ten of these calls belong to the scheduled job and to the measurements of the fleet
      // clock.
      expect((await countScriptRuns()) - scriptsBefore).to.be.lessThan(100);
      await queue.close();
    });
  }

  async function countScriptRuns(): Promise<number> {
    const stats = await redis.info('commandstats');
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  }

  it('failed rounds keep their pauses on a host that is ahead', async () => {
    const worker = await start(tenMinutes);
    const thingId = await worker.add('break', 0);
    const row = await eventually(
      'the job needs an operator',
      async () => {
        const found = await FailingJobModel.findById(`break:${thingId}`).lean<FailingJob>();
        return found?.needsPersonSince ? found : null;
      },
      30_000,
    );
    // The retry delay is 150 ms, doubled each time, minus up to a quarter.
    const times = row.failures.map(({ at }) => at.getTime());
    const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(pauses).to.have.length(5);
    pauses.forEach((pauseMs, index) => expect(pauseMs).to.be.at.least(150 * 2 ** index * 0.75 - 20));
  });

  it('two hosts two hours apart keep one schedule, and each run is in its period', async () => {
    const queue = new Queue(tickJob.queue.name, { connection: redis, prefix });
    const [right, ahead] = await Promise.all([start(0), start(twoHours)]);
    const runs = () => right.runs('tick') + ahead.runs('tick');
    const startedMs = await fleetNowMs();
    const runsBefore = runs();
    // Run for longer than the interval between two checks of the schedules.
    for (let ticks = 1; ticks <= 12; ticks++) {
      await eventually('the next run', () => runs() >= runsBefore + ticks);
      const next = (await queue.getJobScheduler(tickJob.name))?.next ?? Infinity;
      expect(next - (await fleetNowMs())).to.be.within(-2 * tickMs, 2 * tickMs);
    }
    expect(runs() - runsBefore).to.be.at.most(((await fleetNowMs()) - startedMs) / tickMs + 2);
    await queue.close();
  });
});
