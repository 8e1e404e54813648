/**
 * The second process for admission.test.ts. It makes the calls that the test requests over IPC and
 * returns when each call began.
 */
import { callWhenAdmitted } from '../../src/providers/admission.js';
import type { ProviderConnection } from '../../src/providers/adapter.js';
import { connectRedis, disconnectRedis, redis } from '../../src/redis/connection.js';

export interface AdmissionOrder {
  connection: ProviderConnection;
  calls: number;
}

void main();

async function main(): Promise<void> {
  redis();
  await connectRedis();
  process.on('message', (order: AdmissionOrder) => {
    void obey(order);
  });
  process.on('disconnect', () => void disconnectRedis());
  process.send?.({ ready: true });
}

async function obey({ connection, calls }: AdmissionOrder): Promise<void> {
  const begun = await Promise.all(
    Array.from({ length: calls }, () => callWhenAdmitted(connection, () => Promise.resolve(Date.now()))),
  );
  process.send?.({ begun });
}
