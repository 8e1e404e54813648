import type { Session } from '../../database/mongo.js';
import { purchases, toStored, type Purchase } from '../purchase.model.js';

/** Writes new purchases as they are, without building mongoose documents (the hot path), money as int64. */
export async function insertPurchases(session: Session, accepted: Purchase[]): Promise<void> {
  await purchases.insertMany(accepted.map(toStored), { session });
}
