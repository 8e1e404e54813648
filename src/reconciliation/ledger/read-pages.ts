import { setTimeout } from 'node:timers/promises';
import { MongoServerError, type Document, type FindCursor } from 'mongodb';
import { isMongoUnavailable } from '../../database/mongo.js';
import { DependencyError } from '../../shared/errors.js';
import { logger } from '../../shared/logger.js';

/** CursorNotFound. It occurs if a failover happens between two batches. */
const cursorNotFound = 43;
const pausesMs = [500, 2_000, 8_000, 30_000];

/**
 * Retries an idempotent read, so that a short outage does not abort a verification that takes
 * hours.
 */
export async function readWithRetries<T>(read: () => Promise<T>): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await read();
    } catch (error) {
      if (!isTransient(error)) {
        throw error;
      }
      logger.warn('a read of the ledger verification failed and is retried', { error });
      await setTimeout(pauseMs);
    }
  }
  return read();
}

function isTransient(error: unknown): boolean {
  return (
    isMongoUnavailable(error) ||
    error instanceof DependencyError ||
    (error instanceof MongoServerError && error.code === cursorNotFound)
  );
}

const pageSize = 1_000;

/**
 * Reads the results of a query in order, one page at a time. No cursor is open between pages: the
 * server would close it after ten minutes or on a failover, and processing a page may take longer.
 * @param after Returns the queries for the results after a document, in order. For `null`, returns
 * the queries for all results. Their order must be total.
 */
export async function* readPages<T extends Document>(
  after: (last: T | null) => FindCursor<T>[],
): AsyncGenerator<T> {
  let rest = after(null);
  for (let query = rest.shift(); query; query = rest.shift()) {
    const found = query;
    const page = await readWithRetries(() =>
      found
        .clone()
        .limit(pageSize)
        .batchSize(pageSize + 1)
        .toArray(),
    );
    yield* page;
    if (page.length === pageSize) {
      rest = after(page.at(-1) ?? null);
    }
  }
}
