import { env } from '../../config/env.js';
import { disconnectRedis } from '../../src/redis/connection.js';
import { keepFleetClock, type FleetClock } from '../../src/redis/fleet-clock.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';

export interface GatedClock {
  /** The gate on this process's connection to Redis. */
  gate: TcpGate;
  clock: FleetClock;
  /**
   * The original values of everything that a test may replace. They are restored after each test.
   */
  real: { url: string; steady: () => number; date: () => number };
}

/** Runs the fleet clock in each test of a file. Its Redis connection can be delayed or cut. */
export function useGatedClock(): GatedClock {
  const real = { url: env.REDIS_URL, steady: performance.now.bind(performance), date: Date.now };
  const given = { real } as GatedClock;
  beforeEach(async () => {
    await disconnectRedis();
    given.gate = await startTcpGate(real.url);
    env.REDIS_URL = given.gate.url;
    given.clock = keepFleetClock();
    await given.clock.measured;
  });
  afterEach(async () => {
    performance.now = real.steady;
    Date.now = real.date;
    env.REDIS_URL = real.url;
    await given.clock.stop();
    await disconnectRedis();
    await given.gate.stop();
  });
  return given;
}
