import { newId } from '../../shared/ids.js';
import { inTransaction } from '../../database/mongo.js';
import { queue } from '../../jobs/queues.js';
import { changeWallet } from '../wallets/change-wallet.js';
import { move } from '../journals/insert-journals.js';
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

/** Adds a posting job for every seller with new credits. Called by the sweeper, so a sale need not. */
export async function sweepSellerCredits(): Promise<void> {
  const sellerIds = await SellerCreditModel.distinct('sellerId', { status: 'new' });
  if (sellerIds.length > 0) {
    await queue('sellerPostings').addBulk(
      sellerIds.map((sellerId) => ({
        name: 'post',
        data: { v: 1 as const, sellerId },
        // One waiting job a seller is enough: it posts all that is new when it runs.
        opts: { deduplication: { id: sellerId } },
      })),
    );
  }
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
