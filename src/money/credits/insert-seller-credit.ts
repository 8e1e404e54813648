import { now } from '../../shared/clock.js';
import type { Session } from '../../database/mongo.js';
import { sellerCredits, toStored } from './seller-credit.model.js';

/**
 * Notes what a sale brings its seller, or a reversal takes back (negative), within the caller's database transaction.
 * @param credit.id Names what it is for, so that the same credit a second time is a duplicate key. Amount in rupiah.
 */
export async function insertSellerCredit(
  session: Session,
  credit: { id: string; transactionId: string; sellerId: string; amount: number },
): Promise<void> {
  const { id, ...given } = credit;
  await sellerCredits.insertOne(
    toStored({ ...given, _id: id, status: 'new', postingId: null, createdAt: now() }),
    { session },
  );
}
