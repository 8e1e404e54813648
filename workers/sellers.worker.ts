import { startWorker } from '../src/jobs/queues.js';
import { postSellerCredits } from '../src/money/credits/post-seller-credits.js';
import type { RunningWorker } from './run.js';

/** Posts sales to seller wallets, one seller at a time a job, so that busy sellers never conflict. */
export function startSellersWorker(): RunningWorker {
  return startWorker('sellerPostings', (job) => postSellerCredits(job.data.sellerId), { concurrency: 4 });
}
