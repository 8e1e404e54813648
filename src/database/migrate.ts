import mongoose from 'mongoose';
import { logger } from '../shared/logger.js';

/**
 * Creates every collection and index of the models, before any transaction uses them. Safe to run again and while the
 * service runs: what exists stays.
 * @throws Error if an index exists with other options: that needs a decision, not a silent rebuild.
 */
export async function migrate(): Promise<void> {
  for (const name of mongoose.modelNames()) {
    // One after the other: building many indexes at once slows a database that serves purchases.
    const model = mongoose.model(name);
    await model.createCollection();
    await model.createIndexes({ background: true });
    logger.debug('collection is ready', { collection: model.collection.collectionName });
  }
}
