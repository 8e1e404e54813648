/**
 * Starts a worker process: `node dist/workers/run.js fulfilment` runs one kind of work, `all` every kind in one
 * process. src/processes.ts says what each kind does. More processes of a kind share its work.
 */
import { connectMongo, disconnectMongo } from '../src/database/mongo.js';
import { closeQueues } from '../src/jobs/queues.js';
import { startWorkers } from '../src/jobs/start-workers.js';
import { processTypeNamed, processTypes } from '../src/processes.js';
import { disconnectRedis, redis } from '../src/redis/connection.js';
import { logger } from '../src/shared/logger.js';
import { onShutdown } from '../src/shared/shutdown.js';

async function main(names: string[]): Promise<void> {
  const chosen = names.includes('all') ? processTypes : names.map(processTypeNamed);
  if (chosen.length === 0 || chosen.includes(undefined)) {
    const known = processTypes.map(({ name }) => name).join('|');
    process.stderr.write(`Usage: node dist/workers/run.js <${known}|all> ...\n`);
    process.exitCode = 2;
    return;
  }
  redis();
  await connectMongo();
  const workers = startWorkers([...new Set(chosen)].flatMap((each) => each?.handlers ?? []));
  logger.info('workers are ready', { processes: chosen.map((each) => each?.name) });
  process.send?.({ ready: true });
  onShutdown(names.join('+'), [() => workers.close(), closeQueues, disconnectMongo, disconnectRedis]);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  logger.error('worker could not start', { error });
  process.exitCode = 1;
  process.exit();
});
