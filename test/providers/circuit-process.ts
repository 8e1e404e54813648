/**
 * The second process for circuit.test.ts. It records the failures that the test requests over IPC
 * and returns the state of the circuit.
 */
import { readCircuits, recordCall } from '../../src/providers/circuit.js';
import { keepFleetClock } from '../../src/redis/fleet-clock.js';
import { nowMs } from '../../src/shared/clock.js';
import { eventually } from '../support/eventually.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';

export interface CircuitOrder {
  sellerId: string;
  failures: number;
}

void main();

async function main(): Promise<void> {
  redis();
  await connectRedis();
  // Every process of the service runs the fleet clock, because the clock of its host may be wrong.
  const clock = keepFleetClock();
  await eventually('the fleet clock is set', async () => {
    const [seconds] = await redis().time();
    return Math.abs(nowMs() - 1_000 * Number(seconds)) < 2_000;
  });
  process.on('message', (order: CircuitOrder) => {
    void obey(order);
  });
  process.on('disconnect', () => void clock.stop().then(disconnectRedis));
  process.send?.({ ready: true });
}

async function obey({ sellerId, failures }: CircuitOrder): Promise<void> {
  for (let count = 0; count < failures; count++) {
    await recordCall(sellerId, {
      failed: true,
      slow: false,
      served: false,
      startedAt: nowMs(),
      durationMs: 1,
    });
  }
  const state = (await readCircuits([sellerId])).get(sellerId)?.state;
  process.send?.({ state });
}
