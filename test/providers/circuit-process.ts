/** A second process for circuit.test.ts: does what it is told over IPC and answers with the circuit's state. */
import { circuitsOf, recordCall } from '../../src/providers/circuit.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';

export interface CircuitOrder {
  sellerId: string;
  failures: number;
}

redis();
await connectRedis();
process.on('message', (order: CircuitOrder) => {
  void obey(order);
});
process.on('disconnect', () => void disconnectRedis());
process.send?.({ ready: true });

async function obey({ sellerId, failures }: CircuitOrder): Promise<void> {
  for (let count = 0; count < failures; count++) {
    await recordCall(sellerId, {
      failed: true,
      slow: false,
      served: false,
      startedAt: Date.now(),
      durationMs: 1,
    });
  }
  const state = (await circuitsOf([sellerId])).get(sellerId)?.state;
  process.send?.({ state });
}
