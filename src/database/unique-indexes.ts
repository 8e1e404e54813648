import { DependencyError } from '../shared/errors.js';
import { withTimeout } from '../shared/within.js';
import { isMongoUnavailable } from './mongo.js';
import { findWrongIndexes } from './wrong-indexes.js';

/** All wait for one look: one whose answer never comes must not be waited for by everybody that comes after it. */
const lookMaxMs = 30_000;

let wereSeen = false;
let currentCheck: Promise<void> | null = null;

/** Once they were, nobody has to wait for `requireUniqueIndexes` any more. */
export function hasSeenUniqueIndexes(): boolean {
  return wereSeen;
}

/**
 * The unique indexes are what makes it impossible to do the same thing twice, so nothing is written without them.
 * They are looked for until they have been seen once.
 * @throws DependencyError (503/03) that names those that are missing or wrong.
 */
export async function requireUniqueIndexes(): Promise<void> {
  if (!wereSeen) {
    currentCheck ??= withTimeout(
      lookMaxMs,
      checkIndexes(),
      () => new DependencyError(new Error('No index was seen in time')),
    ).finally(() => {
      currentCheck = null;
    });
    await currentCheck;
  }
}

async function checkIndexes(): Promise<void> {
  const wrong = await findWrongIndexes().catch((error: unknown) => {
    throw isMongoUnavailable(error) ? new DependencyError(error) : error;
  });
  const found = wrong
    .filter(({ unique }) => unique)
    .map(({ collection, name, problem }) => `${collection}.${name}: ${problem}`);
  if (found.length > 0) {
    throw new DependencyError(new Error(`A unique index is missing or wrong: ${found.join('; ')}`));
  }
  wereSeen = true;
}
