/** An order whose lease is over, in a process that cannot know it by itself: it, or its machine, stood still. */
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { guardedAdapter } from '../../src/providers/guarded-adapter.js';
import type { ProviderAdapter, ProviderConnection, ProviderOrder } from '../../src/providers/adapter.js';
import { disconnectRedis, redis } from '../../src/redis/connection.js';
import { keepFleetClock, type FleetClock } from '../../src/redis/fleet-clock.js';
import { env } from '../../config/env.js';
import { eventually } from '../support/eventually.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';

const sleptMs = 60_000;

describe('an order after its lease', function () {
  this.timeout(60_000);
  const real = { url: env.REDIS_URL, steady: performance.now.bind(performance), date: Date.now };
  let gate: TcpGate;
  let clock: FleetClock;
  let sent = 0;

  beforeEach(async () => {
    sent = 0;
    await disconnectRedis();
    gate = await startTcpGate(real.url);
    env.REDIS_URL = gate.url;
    clock = keepFleetClock();
    await clock.measured;
  });
  afterEach(async () => {
    performance.now = real.steady;
    Date.now = real.date;
    env.REDIS_URL = real.url;
    await clock.stop();
    await disconnectRedis();
    await gate.stop();
  });

  const adapter = guardedAdapter({
    kind: 'h2h',
    traits: { timeoutMs: 3_000 },
    buy() {
      sent += 1;
      return Promise.resolve({ outcome: 'unknown', code: 'x', message: 'x' });
    },
  } as unknown as ProviderAdapter);
  /** Its lease was over three seconds after it was claimed, which was before the sleep. */
  const buy = async (claimedMs: number) => {
    const order = { sendBefore: new Date(claimedMs + 3_000), providerRef: 'r', productCode: 'S10' };
    return adapter.buy({ sellerId: 's' } as ProviderConnection, order as unknown as ProviderOrder);
  };
  const redisNow = async () => {
    const other = new Redis(real.url);
    const [seconds] = await other.time();
    other.disconnect();
    return Number(seconds) * 1_000;
  };
  const sleepOf = {
    'the host slept': () => {
      performance.now = () => real.steady() - sleptMs;
    },
    'the whole machine was paused, its wall clock too': () => {
      performance.now = () => real.steady() - sleptMs;
      Date.now = () => real.date() - sleptMs;
    },
  };

  for (const [what, sleep] of Object.entries(sleepOf)) {
    it(`is not sent where ${what}`, async () => {
      const nowMs = await redisNow();
      sleep();
      expect(await buy(nowMs - sleptMs)).to.include({ outcome: 'not-sent', code: 'LATE' });
      expect(sent).to.equal(0);
    });

    it(`is not sent where ${what}, and Redis does not answer`, async () => {
      const nowMs = await redisNow();
      sleep();
      await gate.cut();
      await eventually('the cut to be noticed', () => redis().status !== 'ready');
      const outcome = await buy(nowMs - sleptMs);
      expect(outcome).to.include({ outcome: 'not-sent', code: 'LATE' });
      expect(outcome.message).to.contain('could not be seen');
      expect(sent).to.equal(0);
    });
  }

  it('and before it is over it is sent', async () => {
    await buy(await redisNow());
    expect(sent).to.equal(1);
  });
});
