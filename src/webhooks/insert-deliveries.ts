import type { Session } from '../database/mongo.js';
import type { Insert } from '../money/posting/posting.js';
import { deliveries, type Delivery } from './delivery.model.js';

/**
 * Writes rows within the caller's database transaction, so that an event exists exactly if its fact does.
 * @throws MongoServerError (duplicate key) if one of them was written before.
 */
export async function insertDeliveries(session: Session, rows: Delivery[]): Promise<void> {
  if (rows.length > 0) {
    await deliveries.insertMany(rows, { session });
  }
}

/** The rows for a posting, so that an event exists exactly if its fact does. */
export function buildDeliveryInserts(rows: Delivery[]): Insert[] {
  return rows.map((document) => ({ collection: deliveries.collectionName, document }));
}
