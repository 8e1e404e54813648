import { now } from '../../shared/clock.js';
import type { Insert } from '../posting/posting.js';
import { sellerCredits, toStored } from './seller-credit.model.js';

/**
 * What a sale brings its seller, or a reversal takes back (negative), for a posting of the buyer's: the seller's wallet
 * is posted later. @param credit.id Names what it is for. Amount in rupiah.
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
