/**
 * A worker for wrong-clocks.long.test.ts. It adds the jobs that the test requests over IPC and
 * reports each job that it runs.
 */
import { connectMongo } from '../../src/database/mongo.js';
import { addJob } from '../../src/jobs/add-job.js';
import { handle } from '../../src/jobs/define-job.js';
import { startWorkers } from '../../src/jobs/start-workers.js';
import { connectRedis } from '../../src/redis/connection.js';
import { keepFleetClock } from '../../src/redis/fleet-clock.js';
import { brokenJob, noteJob, tickJob } from './clock-jobs.js';

export interface ClockOrder {
  job: 'note' | 'break';
  thingId: string;
  delayMs: number;
}

void main();

async function main(): Promise<void> {
  const clock = keepFleetClock();
  await Promise.all([connectMongo(), connectRedis()]);
  await clock.measured;
  const report = ({ thingId }: { thingId: string }) => Promise.resolve(process.send?.({ ran: thingId }));
  await startWorkers([
    handle(noteJob, report),
    handle(tickJob, report),
    handle(brokenJob, () => Promise.reject(new Error('broken'))),
  ]).ready;
  process.on('message', ({ job, thingId, delayMs }: ClockOrder) => {
    void addJob(job === 'note' ? noteJob : brokenJob, { thingId }, { delayMs }).then(() =>
      process.send?.({ added: thingId }),
    );
  });
  process.send?.({ ready: true });
}
