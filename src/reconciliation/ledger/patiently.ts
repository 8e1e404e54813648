import { setTimeout } from 'node:timers/promises';
import { MongoServerError } from 'mongodb';
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
