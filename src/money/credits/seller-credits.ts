import Joi from 'joi';
import { defineJob, defineQueue } from '../../jobs/define-job.js';
import { defineScheduledJob } from '../../jobs/sweep-job.js';
import { newId } from '../../shared/ids.js';
import { addJobs, tryToAddJob } from '../../jobs/add-job.js';
import { buildMovementLines } from '../journals/new-journal.js';
import { getShardRange } from '../../database/sharding.js';
import { groupBy } from '../../shared/collections.js';
import { post } from '../posting/post.js';
import type { Change, Insert } from '../posting/posting.js';
import { SellerCreditModel, sellerCredits, type SellerCredit, toStored } from './seller-credit.model.js';
import { now } from '../../shared/clock.js';

interface SellerData {
  /** The seller. */
  accountId: string;
}

/**
 * Posts a seller's new credits. At most one job per seller waits. It posts all credits that are new
 * when it runs.
 */
export const postSellerCreditsJob = defineJob<SellerData>({
  queue: defineQueue({ name: 'sellerPostings', does: 'Posts sales to seller wallets', concurrency: 4 }),
  name: 'post-seller-credits',
  version: 3,
  data: Joi.object({ accountId: Joi.string() }),
  subject: ({ accountId }) => accountId,
  whileActive: 'follow',
});

export const sweepSellerCreditsJob = defineScheduledJob('sweep-seller-credits', 30_000);

const postingMax = 1_000;

/**
 * Posts a seller's new credits to its wallet as one journal (decision 007). Sales only insert
 * credits and do not touch the seller's wallet, so sales of a busy seller never conflict.
 *
 * Invariant: a credit is posted once, because one posting changes the credits from new to posted
 * and changes the wallet.
 */
export async function postSellerCredits(sellerId: string): Promise<void> {
  while (await postBatch(sellerId)) {
    // Run again: one posting did not take all credits, or another process took some of them.
  }
}

/**
 * Delay in milliseconds before the posting. Sales of a seller within this delay are posted
 * together.
 */
const postingDelayMs = 1_000;

/**
 * Schedules the posting of a seller's credits. Call it after the commit. If Redis is unavailable,
 * the sweep schedules the posting later.
 */
export function scheduleSellerPosting(sellerId: string): Promise<void> {
  return tryToAddJob(postSellerCreditsJob, { accountId: sellerId }, { delayMs: postingDelayMs });
}

/** Adds a posting job for every seller with new credits, in case the job was lost. */
export async function sweepSellerCredits(): Promise<void> {
  const sellerIds = await SellerCreditModel.distinct('sellerId', { status: 'new' });
  await addJobs(
    postSellerCreditsJob,
    sellerIds.map((accountId) => ({ accountId })),
  );
}

/** @returns True if the seller may have more new credits. */
async function postBatch(sellerId: string): Promise<boolean> {
  // A posted credit never becomes new again, and its creation time never changes. So no credit is
  // summed twice.
  const credits = await SellerCreditModel.find({ sellerId, status: 'new' })
    .sort({ createdAt: 1 })
    .limit(postingMax)
    .lean<SellerCredit[]>();
  if (credits.length === 0) {
    return false;
  }
  const postingId = newId();
  const sum = credits.reduce((total, each) => total + each.amount, 0);
  const result = await post({
    accountId: sellerId,
    kind: 'seller-posting',
    subjectId: postingId,
    wallet: { balance: sum, mayOverdraw: true },
    lines: buildMovementLines(sum, { from: `payable:${sellerId}`, to: `wallet:${sellerId}` }),
    changes: [...groupBy(credits, ({ accountId }) => getShardRange(accountId)).values()].map((some) =>
      markPosted(some, postingId),
    ),
  });
  if (result.outcome === 'too-large') {
    throw new Error(`The wallet of seller ${sellerId} would become too large with ${sum}`);
  }
  return result.outcome === 'stale' || credits.length === postingMax;
}

/**
 * Builds the change that marks credits as posted. Credits are sharded by buyer, so the change has
 * one statement per shard range.
 */
function markPosted(credits: SellerCredit[], postingId: string): Change {
  return {
    collection: sellerCredits.collectionName,
    id: credits.map(({ _id }) => _id),
    accountId: [...new Set(credits.map(({ accountId }) => accountId))],
    expect: { status: 'new' },
    set: { status: 'posted', postingId },
  };
}

/**
 * Builds the insert of a seller credit, or of a reversal (negative), for a posting of the buyer. A
 * separate posting changes the seller's wallet later. The amount is in rupiah.
 * @param credit.id The purchase id, or `<purchase>-reversal`.
 */
export function buildSellerCreditInsert(credit: {
  id: string;
  accountId: string;
  transactionId: string;
  sellerId: string;
  amount: number;
}): Insert {
  const { id, ...given } = credit;
  return {
    collection: sellerCredits.collectionName,
    document: toStored({ ...given, _id: id, status: 'new', postingId: null, createdAt: now() }),
  };
}
