import { setTimeout } from 'node:timers/promises';
import { MongoServerError, type Document, type FindCursor } from 'mongodb';
import { isMongoUnavailable } from '../../database/mongo.js';
import { DependencyError } from '../../shared/errors.js';
import { logger } from '../../shared/logger.js';

/** CursorNotFound: the primary has changed between two batches. */
const cursorNotFound = 43;
const pausesMs = [500, 2_000, 8_000, 30_000];

/** Reads that may be done again: a database that is away for a moment does not end a verification of hours. */
export async function readWithRetries<T>(read: () => Promise<T>): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await read();
    } catch (error) {
      if (!isTransient(error)) {
        throw error;
      }
      logger.warn('MongoDB did not answer the verification, which asks again', { error });
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
 * What a query finds, in its order, a page at a time: nothing is open at the server between two pages, where a cursor would be
 * forgotten after ten minutes, and with a change of the primary. A verification of hours spends longer than that on what it has read.
 * @param after What comes after a document, as queries one after the other; of `null`: all. No two documents are equal in
 *   their order.
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
