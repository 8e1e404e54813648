import { MongoError } from '../errors.js';
import type { Reader } from './reader.js';

/** A statement outside of a transaction met a transaction's lock: undo it, wait for the holder's end, run it again. */
export class LockedError extends Error {
  override readonly name = 'LockedError';

  constructor(readonly holder: Reader) {
    super('the document is locked by a transaction');
  }
}

/** Ends a write that met another's: a transaction fails at once, a plain statement has to wait for the holder. */
export function conflict(transaction: Reader, holder: Reader | null): Error {
  if (!transaction.explicit && holder !== null) {
    return new LockedError(holder);
  }
  return new MongoError(
    112,
    'Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry your operation or multi-document transaction.',
  );
}
