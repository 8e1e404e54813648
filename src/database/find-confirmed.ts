import type { Collection, Document, Filter, WithId } from 'mongodb';
import { postingClient, quick } from './mongo.js';

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
 * @throws what MongoDB throws; a set that confirms nothing within `readMs` counts as away.
 */
export async function findConfirmed<T extends Document>(
  from: Collection<T>,
  filter: Filter<T>,
): Promise<WithId<T>[]> {
  const session = postingClient().startSession({ causalConsistency: true });
  const read = (readConcern: 'local' | 'majority') =>
    quick(from).find(filter, { session, readConcern, batchSize: 1_000, timeoutMS: readMs }).toArray();
  try {
    const newest = await read('local');
    return newest.length === 0 ? [] : await read('majority');
  } finally {
    await session.endSession();
  }
}
