import type { Document, FindCursor } from 'mongodb';
import { readWithRetries } from './patiently.js';

const pageSize = 1_000;

/**
 * What a query finds, in its order, a page at a time: nothing is open at the server between two pages, where a cursor would be
 * forgotten after ten minutes, and with a change of the primary. A verification of hours spends longer than that on what it has read.
 * @param after What comes after a document, as queries one after the other; of `null`: all. No two documents are equal in
 *   their order.
 */
export async function* readPages<T extends Document>(
  after: (last: T | null) => FindCursor<T>[],
): AsyncGenerator<T> {
  let rest = after(null);
  for (let query = rest.shift(); query; query = rest.shift()) {
    const found = query;
    const page = await readWithRetries(() =>
      found
        .clone()
        .limit(pageSize)
        .batchSize(pageSize + 1)
        .toArray(),
    );
    yield* page;
    if (page.length === pageSize) {
      rest = after(page.at(-1) ?? null);
    }
  }
}
