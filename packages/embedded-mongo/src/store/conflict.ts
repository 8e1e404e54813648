import { MongoError } from '../errors.js';
import type { Reader } from './reader.js';

/**
 * A statement outside of a transaction met a lock. The caller undoes it, waits for the holder to
 * end, and runs it again.
 */
export class LockedError extends Error {
  override readonly name = 'LockedError';

  constructor(readonly holder: Reader) {
    super('the document is locked by a transaction');
  }
}

/**
 * The error for a write that conflicts with another one. A transaction fails at once. A plain
 * statement waits for the holder.
 */
export function createConflictError(transaction: Reader, holder: Reader | null): Error {
  if (!transaction.explicit && holder !== null) {
    return new LockedError(holder);
  }
  return new MongoError(
    112,
    'Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction.',
  );
}
