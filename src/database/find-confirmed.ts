import mongoose from 'mongoose';
import type { Collection, Document, Filter, WithId } from 'mongodb';

/** How long one read may take, its wait for the majority included. */
const readMs = 2_000;

/**
 * The documents that fit, as a majority holds them, read causally after their newest state on the primary.
 *
 * A plain `majority` read may lag behind what a `local` read, a unique index or a changed guard has shown. A refusal that
 * follows from such data is checked by this function, and so is "that was done before": neither may rest on a plain read.
 *
 * The newest state is read first. Only if it has such documents, a majority read of the same causally consistent session
 * follows, which waits for the majority. So a look-up that finds nothing costs one command.
 *
 * Both reads take connections of mongoose's client: many that wait must not hold those of postings. The clients find a new
 * primary each by itself. A caller that has seen a document by the posting client must not take "none" for an answer.
 * @param from A collection of mongoose's client.
 * @throws what MongoDB throws; a set that confirms nothing within `readMs` counts as away.
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

/** As `findConfirmed`, in one command where a majority has such documents already, in whichever state of theirs. */
export async function findHeld<T extends Document>(
  from: Collection<T>,
  filter: Filter<T>,
): Promise<WithId<T>[]> {
  const held = await from.find(filter, { readConcern: 'majority', batchSize: 1_000 }).toArray();
  return held.length > 0 ? held : findConfirmed(from, filter);
}
