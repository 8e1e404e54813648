import { newId } from '../../shared/ids.js';
import { inTransaction } from '../../database/mongo.js';
import { addJobs, tryToAddJob } from '../../jobs/add-job.js';
import { changeWallet } from '../wallets/change-wallet.js';
import { move } from '../journals/insert-journals.js';
import { postSellerCreditsJob } from './post-seller-credits.job.js';
import { SellerCreditModel, type SellerCredit } from './seller-credit.model.js';

const postingMax = 1_000;

/**
 * Posts a seller's new credits to its wallet as one journal (decision 018). Sales only add a row each, so that those
 * of a busy seller never conflict; this is the one place that changes the seller's wallet for them.
 * Invariant: a credit is posted once, because the rows move new -> posted with the wallet in one database transaction.
 */
export async function postSellerCredits(sellerId: string): Promise<void> {
  let posted = postingMax;
  while (posted === postingMax) {
    posted = await postOnce(sellerId);
  }
}

/** A busy seller's sales of this time are posted together. */
const gatherMs = 1_000;

/** Has a seller's credits posted soon. Call it after the commit; without Redis the sweep finds them. */
export function announceSellerCredit(sellerId: string): Promise<void> {
  return tryToAddJob(postSellerCreditsJob, { sellerId }, { delayMs: gatherMs });
}

/** Adds a posting job for every seller with new credits whose job got lost. */
export async function sweepSellerCredits(): Promise<void> {
  const sellerIds = await SellerCreditModel.distinct('sellerId', { status: 'new' });
  await addJobs(
    postSellerCreditsJob,
    sellerIds.map((sellerId) => ({ sellerId })),
  );
}

async function postOnce(sellerId: string): Promise<number> {
  return inTransaction(async (session) => {
    const credits = await SellerCreditModel.find({ sellerId, status: 'new' })
      .sort({ createdAt: 1 })
      .limit(postingMax)
      .session(session)
      .lean<SellerCredit[]>();
    if (credits.length === 0) {
      return 0;
    }
    const postingId = newId();
    const sum = credits.reduce((total, each) => total + each.amount, 0);
    await SellerCreditModel.updateMany(
      { _id: { $in: credits.map((each) => each._id) }, status: 'new' },
      { $set: { status: 'posted', postingId } },
      { session },
    );
    await changeWallet(session, {
      walletId: sellerId,
      balanceDelta: sum,
      kind: 'seller-posting',
      subjectId: postingId,
      lines: move(sum, { from: `payable:${sellerId}`, to: `wallet:${sellerId}` }),
      mayOverdraw: true,
    });
    return credits.length;
  });
}
