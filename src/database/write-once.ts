import { inTransaction, isDuplicateKey, UnknownCommitError, type Session } from './mongo.js';

/**
 * Writes what a client named by a reference of its own, once: whoever calls again gets what stands, also when two
 * calls meet or the answer of a commit was lost.
 * @param steps.find What stands under the reference, by its unique key; null if nothing does.
 * @param steps.write Runs in a transaction, and can run several times.
 * @param steps.wallet The wallet that it changes.
 * @returns what stands now, and whether this call wrote it.
 */
export async function writeOnce<T>(steps: {
  find: () => Promise<T | null>;
  write: (session: Session) => Promise<T>;
  wallet: string;
}): Promise<{ stored: T; created: boolean }> {
  const known = await steps.find();
  if (known) {
    return { stored: known, created: false };
  }
  try {
    return { stored: await inTransaction(steps.write, { wallet: steps.wallet }), created: true };
  } catch (error) {
    const stored = isDuplicateKey(error) || error instanceof UnknownCommitError ? await steps.find() : null;
    if (stored) {
      return { stored, created: false };
    }
    throw error;
  }
}
