import { env } from '../../config/env.js';
import { disconnectRedis } from '../../src/redis/connection.js';
import { keepFleetClock, type FleetClock } from '../../src/redis/fleet-clock.js';
import { startTcpGate, type TcpGate } from '../support/outage.js';

export interface GatedClock {
  /** The way of this process to Redis. */
  gate: TcpGate;
  clock: FleetClock;
  /** What a test may put something in the place of: it is put back. */
  real: { url: string; steady: () => number; date: () => number };
}

/** Each test of the file keeps the fleet's clock in this process, by a Redis that can be made slow, or be cut off. */
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
