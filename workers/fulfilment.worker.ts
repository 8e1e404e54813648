import { env } from '../config/env.js';
import { startWorker } from '../src/jobs/queues.js';
import { fulfilPurchase } from '../src/purchases/fulfil/fulfil-purchase.js';
import type { RunningWorker } from './run.js';

/** Takes accepted purchases to a provider. A job that fails is not retried here: the sweeper adds a new one. */
export function startFulfilmentWorker(): RunningWorker {
  return startWorker('fulfilment', (job) => fulfilPurchase(job.data.transactionId), {
    concurrency: env.FULFILMENT_CONCURRENCY,
  });
}
