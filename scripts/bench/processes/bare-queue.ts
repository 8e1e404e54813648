/**
 * Yardstick for job start latency: plain BullMQ. One process adds jobs at a steady rate, another
 * takes them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { serveCalls } from '../support/calls.js';

export interface Adding {
  perSecond: number;
  seconds: number;
}

const name = 'bare';

/**
 * @param args The Redis prefix, then `add` or `take`. A process with `take` returns how long each
 * job has waited since the last call, in milliseconds.
 */
export function runBareQueue([prefix = '', what = '']: string[]): void {
  const connection = new Redis(process.env['REDIS_URL'] ?? '', { maxRetriesPerRequest: null });
  if (what === 'add') {
    const queue = new Queue(name, { connection, prefix, defaultJobOptions: { removeOnComplete: 1_000 } });
    serveCalls(async ({ perSecond, seconds }: Adding) => {
      const startedMs = performance.now();
      const adding: Promise<unknown>[] = [];
      for (let at = 0; at < perSecond * seconds; at++) {
        const dueMs = startedMs + (1_000 * at) / perSecond - performance.now();
        if (dueMs > 0) {
          await pause(dueMs);
        }
        adding.push(queue.add('take', { addedMs: Date.now() }));
      }
      return (await Promise.all(adding)).length;
    });
    return;
  }
  let waitedMs: number[] = [];
  const take = ({ data }: { data: { addedMs: number } }) =>
    Promise.resolve(waitedMs.push(Date.now() - data.addedMs));
  const worker = new Worker<{ addedMs: number }>(name, take, { connection, prefix, concurrency: 50 });
  worker.on('error', (error) => console.error(error));
  serveCalls(() => {
    const found = waitedMs;
    waitedMs = [];
    return Promise.resolve(found);
  });
}
