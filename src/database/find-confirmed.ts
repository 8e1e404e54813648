import type { Collection, Document, Filter, WithId } from 'mongodb';
import { postingClient, quick } from './mongo.js';

/**
 * The documents that fit, as a majority holds them, read causally after everything that was seen before this call.
 *
 * A plain `majority` read may lag behind what a `local` read, a unique index or a changed guard has shown. A refusal that
 * follows from such data is checked by this function, and so is "that was done before": neither may rest on a plain read.
 *
 * The newest state is read first. Only if it has such documents, a majority read of the same causally consistent session
 * follows, which waits for the majority. So a look-up that finds nothing costs one command.
 * @throws what MongoDB throws; a set that confirms nothing for `limits.postingSocketMs` counts as away.
 */
export async function findConfirmed<T extends Document>(
  from: Collection<T>,
  filter: Filter<T>,
): Promise<WithId<T>[]> {
  const session = postingClient().startSession({ causalConsistency: true });
  const read = (readConcern: 'local' | 'majority') =>
    quick(from).find(filter, { session, readConcern, batchSize: 1_000 }).toArray();
  try {
    const newest = await read('local');
    return newest.length === 0 ? [] : await read('majority');
  } finally {
    await session.endSession();
  }
}
