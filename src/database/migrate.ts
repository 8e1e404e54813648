import mongoose from 'mongoose';
import { logger } from '../shared/logger.js';

/**
 * Creates every collection and index of the models, before any transaction uses them. Existing ones
 * are unchanged. Safe to run again, and while the service runs.
 * @throws Error if an index exists with other options. An operator must decide on the rebuild.
 */
export async function migrate(): Promise<void> {
  for (const name of mongoose.modelNames()) {
    // Build indexes one at a time, because parallel builds slow down a database that serves
    // purchases.
    const model = mongoose.model(name);
    await model.createCollection();
    await model.createIndexes({ background: true });
    logger.debug('collection is ready', { collection: model.collection.collectionName });
  }
}
