import type { Session } from '../database/mongo.js';
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
