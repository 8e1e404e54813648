import { payOut } from '../src/settlements/pay-out.js';
import { startWorker } from '../src/jobs/queues.js';
import type { RunningWorker } from './run.js';

/** Pays out settlements. */
export function startSettlementsWorker(): RunningWorker {
  return startWorker('settlements', (job) => payOut(job.data.settlementId), { concurrency: 8 });
}
