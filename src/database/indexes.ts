import { MongoServerError } from 'mongodb';
import mongoose from 'mongoose';
import { DependencyError } from '../shared/errors.js';
import { withTimeout } from '../shared/concurrency.js';
import { isMongoUnavailable } from './mongo.js';

export interface WrongIndex {
  collection: string;
  name: string;
  unique: boolean;
  /** Description of the difference, and how to fix it. */
  problem: string;
}

interface IndexOptions {
  name?: string;
  unique?: boolean;
  sparse?: boolean;
  partialFilterExpression?: object;
}

interface FoundIndex extends IndexOptions {
  key: object;
}

/**
 * Finds indexes that the models declare and that the database lacks or defines differently.
 * Comparing names is not enough: an index with the right name may have other keys or options.
 */
export async function findWrongIndexes(): Promise<WrongIndex[]> {
  const wrong: WrongIndex[] = [];
  for (const modelName of mongoose.modelNames()) {
    const { collection, schema } = mongoose.model<unknown>(modelName);
    const found = await readIndexes(collection);
    for (const [key, options] of schema.indexes() as [object, IndexOptions][]) {
      const problem = describeDifference(
        { ...options, key },
        found.find((each) => each.name === options.name),
      );
      if (problem) {
        const { name = '', unique = false } = options;
        wrong.push({ collection: collection.collectionName, name, unique, problem });
      }
    }
  }
  return wrong;
}

const migrateCommand = 'run node dist/scripts/migrate.js';

function describeDifference(wanted: FoundIndex, found: FoundIndex | undefined): string | null {
  if (!found) {
    return `it is missing: ${migrateCommand}`;
  }
  const problems: string[] = [];
  if (Boolean(wanted.unique) !== Boolean(found.unique)) {
    problems.push(wanted.unique ? 'it is not unique' : 'it is unique');
  }
  // The order of the keys of an index matters. The order of fields in its filter does not.
  if (JSON.stringify(wanted.key) !== JSON.stringify(found.key)) {
    problems.push(`its keys are ${JSON.stringify(found.key)}, not ${JSON.stringify(wanted.key)}`);
  }
  if (formatFilter(wanted) !== formatFilter(found)) {
    problems.push(`its filter is ${formatFilter(found)}, not ${formatFilter(wanted)}`);
  }
  if (Boolean(wanted.sparse) !== Boolean(found.sparse)) {
    problems.push(wanted.sparse ? 'it is not sparse' : 'it is sparse');
  }
  return problems.length === 0 ? null : `${problems.join(', ')}: drop it, then ${migrateCommand}`;
}

function formatFilter({ partialFilterExpression }: IndexOptions): string {
  return partialFilterExpression === undefined
    ? 'absent'
    : JSON.stringify(sortFields(partialFilterExpression));
}

/** Returns a copy of the object with its fields sorted by name at every depth. */
function sortFields(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, each]) => [name, sortFields(each)]),
      )
    : value;
}

async function readIndexes(collection: mongoose.Collection): Promise<FoundIndex[]> {
  try {
    return await collection.indexes();
  } catch (error) {
    // A collection that was never created has no indexes (NamespaceNotFound).
    if (error instanceof MongoServerError && error.code === 26) {
      return [];
    }
    throw error;
  }
}

/**
 * Time limit of a check in milliseconds. All callers share one check, so it must end even without a
 * response.
 */
const checkTimeoutMs = 30_000;

let areVerified = false;
let currentCheck: Promise<void> | null = null;

/** True once the unique indexes were found. After that, `requireUniqueIndexes` is not needed. */
export function areUniqueIndexesVerified(): boolean {
  return areVerified;
}

/**
 * Requires the unique indexes, which prevent duplicate operations. Nothing may be written without
 * them. The check repeats until it has succeeded once.
 * @throws DependencyError (503/03) that names missing or wrong indexes.
 */
export async function requireUniqueIndexes(): Promise<void> {
  if (!areVerified) {
    currentCheck ??= withTimeout(
      checkTimeoutMs,
      checkIndexes(),
      () => new DependencyError(new Error('Checking the unique indexes timed out')),
    ).finally(() => {
      currentCheck = null;
    });
    await currentCheck;
  }
}

async function checkIndexes(): Promise<void> {
  const wrong = await findWrongIndexes().catch((error: unknown) => {
    throw isMongoUnavailable(error) ? new DependencyError(error) : error;
  });
  const found = wrong
    .filter(({ unique }) => unique)
    .map(({ collection, name, problem }) => `${collection}.${name}: ${problem}`);
  if (found.length > 0) {
    throw new DependencyError(new Error(`A unique index is missing or wrong: ${found.join('; ')}`));
  }
  areVerified = true;
}
