import { MongoError } from '../errors.js';
import type { Reader } from './reader.js';

/**
 * A statement outside of a transaction needs a lock that another transaction holds. The caller
 * aborts the statement, waits until that transaction has ended, and runs the statement again.
 */
export class LockedError extends Error {
  override readonly name = 'LockedError';

  constructor(readonly holder: Reader) {
    super('the document is locked by a transaction');
  }
}

/**
 * Returns the error for a write that conflicts with another one. Inside a transaction, the write
 * fails immediately. Outside, the statement waits for the lock.
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
