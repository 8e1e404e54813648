/** A worker that dies when a job's subject begins with `deadly`. Other jobs take 300 ms. */
import { setTimeout as wait } from 'node:timers/promises';
import { connectMongo } from '../../src/database/mongo.js';
import { handle } from '../../src/jobs/define-job.js';
import { startWorkers } from '../../src/jobs/start-workers.js';
import { connectRedis } from '../../src/redis/connection.js';
import { deadlyJob } from './deadly-job.js';

void main();

async function main(): Promise<void> {
  await Promise.all([connectMongo(), connectRedis()]);
  startWorkers([
    handle(deadlyJob, async ({ thingId }) => {
      if (thingId.startsWith('deadly')) {
        // Wait until the other jobs are running.
        await wait(100);
        process.kill(process.pid, 'SIGKILL');
      }
      await wait(300);
      process.send?.(thingId);
    }),
  ]);
}
