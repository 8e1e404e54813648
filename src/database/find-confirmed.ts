import mongoose from 'mongoose';
import type { Collection, Document, Filter, WithId } from 'mongodb';

/** Time limit of one read in milliseconds, including its wait for the majority. */
const readMs = 2_000;

/**
 * Finds documents that a majority holds, at least as new as their current state on the primary.
 *
 * A plain `majority` read may lag behind a `local` read, a unique index or a changed guard. Use
 * this function before a refusal that is based on such data, or before a response such as "already
 * done".
 *
 * The newest state is read first. If it has matches, a majority read follows in the same causally
 * consistent session and waits for the majority. A look-up without matches needs one command.
 *
 * Both reads use mongoose's client, so that waiting reads do not take connections of postings. Each
 * client discovers a new primary separately. A caller that has seen a document through the posting
 * client must not trust an empty result.
 *
 * @param from A collection of mongoose's client.
 * @throws MongoDB errors. A timeout if the majority does not confirm within `readMs`.
 */
export async function findConfirmed<T extends Document>(
  from: Collection<T>,
  filter: Filter<T>,
): Promise<WithId<T>[]> {
  const session = mongoose.connection.getClient().startSession({ causalConsistency: true });
  const common = { session, timeoutMS: readMs };
  try {
    const newest = await from.findOne(filter, { ...common, readConcern: 'local', projection: { _id: 1 } });
    return newest === null
      ? []
      : await from.find(filter, { ...common, readConcern: 'majority', batchSize: 1_000 }).toArray();
  } finally {
    await session.endSession();
  }
}

/** Like `findConfirmed`, but needs only one command if a majority already holds matches. */
export async function findMajorityHeld<T extends Document>(
  from: Collection<T>,
  filter: Filter<T>,
): Promise<WithId<T>[]> {
  const found = await from.find(filter, { readConcern: 'majority', batchSize: 1_000 }).toArray();
  return found.length > 0 ? found : findConfirmed(from, filter);
}
