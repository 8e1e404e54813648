import Joi from 'joi';
import { defineJob, defineQueue } from '../../jobs/define-job.js';
import { schedules } from '../../jobs/sweep-job.js';

interface SellerData {
  sellerId: string;
}

/** Posts a seller's new credits. One job a seller waits: it posts all that is new when it runs. */
export const postSellerCreditsJob = defineJob<SellerData>({
  queue: defineQueue({ name: 'sellerPostings', does: 'Posts sales to seller wallets', concurrency: 4 }),
  name: 'post-seller-credits',
  version: 2,
  data: Joi.object({ sellerId: Joi.string() }),
  earlier: [{ name: 'post', version: 1, read: ({ sellerId }) => ({ sellerId }) }],
  subject: ({ sellerId }) => sellerId,
  whileActive: 'follow',
});

/** Finds sellers whose credits nobody has posted. */
export const sweepSellerCreditsJob = defineJob<object>({
  queue: schedules,
  name: 'sweep-seller-credits',
  version: 1,
  data: Joi.object({}),
  subject: () => 'all',
  clock: { everyMs: 30_000, data: {} },
});
