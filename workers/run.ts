/**
 * Starts worker processes: `node dist/workers/run.js fulfilment` runs one kind, `all` every kind in one process.
 * More processes of a kind share its work; any of them may be killed at any time.
 */
import { connectMongo, disconnectMongo } from '../src/database/mongo.js';
import { logger } from '../src/shared/logger.js';
import { closeQueues } from '../src/jobs/queues.js';
import { disconnectRedis, redis } from '../src/redis/connection.js';
import { onShutdown } from '../src/shared/shutdown.js';
import { startFulfilmentWorker } from './fulfilment.worker.js';
import { startInquiriesWorker } from './inquiries.worker.js';
import { startPollingWorker } from './polling.worker.js';
import { startReportsWorker } from './reports.worker.js';
import { startSellersWorker } from './sellers.worker.js';
import { startSettlementsWorker } from './settlements.worker.js';
import { startWebhookWorker } from './webhooks.worker.js';

/** A kind of work in this process. `close` lets what is under way finish. */
export interface RunningWorker {
  close(): Promise<void>;
}

const starters: Record<string, () => RunningWorker> = {
  fulfilment: startFulfilmentWorker,
  polling: startPollingWorker,
  webhooks: startWebhookWorker,
  sellers: startSellersWorker,
  settlements: startSettlementsWorker,
  inquiries: startInquiriesWorker,
  reports: startReportsWorker,
};

async function main(kinds: string[]): Promise<void> {
  const names = kinds.includes('all') ? Object.keys(starters) : kinds;
  const chosen = names.map((name) => starters[name]);
  if (chosen.length === 0 || chosen.includes(undefined)) {
    process.stderr.write(`Usage: node dist/workers/run.js <${Object.keys(starters).join('|')}|all> ...\n`);
    process.exitCode = 2;
    return;
  }
  redis();
  await connectMongo();
  const running = chosen.flatMap((start) => (start ? [start()] : []));
  logger.info('workers are ready', { kinds: names });
  process.send?.({ ready: true });
  onShutdown(names.join('+'), [
    () => Promise.all(running.map((worker) => worker.close())),
    closeQueues,
    disconnectMongo,
    disconnectRedis,
  ]);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  logger.error('worker could not start', { error });
  process.exitCode = 1;
  process.exit();
});
