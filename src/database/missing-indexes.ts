import { MongoServerError } from 'mongodb';
import mongoose from 'mongoose';

export interface MissingIndex {
  collection: string;
  name: string;
  unique: boolean;
}

interface FoundIndex {
  name?: string;
  unique?: boolean;
}

/** Indexes that the models declare and the database does not have (or has without `unique`). */
export async function missingIndexes(): Promise<MissingIndex[]> {
  const missing: MissingIndex[] = [];
  for (const modelName of mongoose.modelNames()) {
    const { collection, schema } = mongoose.model<unknown>(modelName);
    const found = await indexesOf(collection);
    for (const [, options] of schema.indexes() as [unknown, FoundIndex][]) {
      const unique = options.unique === true;
      const match = found.find((each) => each.name === options.name);
      if (!match || (unique && match.unique !== true)) {
        missing.push({ collection: collection.collectionName, name: options.name ?? '', unique });
      }
    }
  }
  return missing;
}

async function indexesOf(collection: mongoose.Collection): Promise<FoundIndex[]> {
  try {
    return await collection.indexes();
  } catch (error) {
    // A collection that was never made has no indexes either (NamespaceNotFound).
    if (error instanceof MongoServerError && error.code === 26) {
      return [];
    }
    throw error;
  }
}
