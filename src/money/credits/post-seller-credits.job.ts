import Joi from 'joi';
import { defineJob, defineQueue } from '../../jobs/define-job.js';
import { defineClocked } from '../../jobs/sweep-job.js';

interface SellerData {
  /** The seller's. */
  accountId: string;
}

/** Posts a seller's new credits. One job a seller waits: it posts all that is new when it runs. */
export const postSellerCreditsJob = defineJob<SellerData>({
  queue: defineQueue({ name: 'sellerPostings', does: 'Posts sales to seller wallets', concurrency: 4 }),
  name: 'post-seller-credits',
  version: 3,
  data: Joi.object({ accountId: Joi.string() }),
  subject: ({ accountId }) => accountId,
  whileActive: 'follow',
});

/** Finds sellers whose credits nobody has posted. */
export const sweepSellerCreditsJob = defineClocked('sweep-seller-credits', 30_000);
