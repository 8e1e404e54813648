import type { Db } from 'mongodb';

/**
 * Writes rows of any collection in large batches. The next batch is built while the previous one is
 * written.
 */
export interface BulkWriter {
  add(collection: string, row: object): void;
  /** Starts writing every collection that has at least `least` waiting rows. */
  drain(least?: number): Promise<void>;
  /** Resolves when every waiting row is written. */
  end(): Promise<void>;
}

/**
 * Rows per insert. Larger batches block a small database for longer than the timeouts of other
 * clients.
 */
const batchSize = 1_000;

/**
 * @param db Database handle of a client with the driver's default timeouts. The service's own
 * timeouts are too short for bulk writes.
 */
export function bulkWriter(db: Db): BulkWriter {
  const waiting = new Map<string, object[]>();
  let underWay: Promise<unknown> = Promise.resolve();
  const writer: BulkWriter = {
    add(collection, row) {
      const rows = waiting.get(collection) ?? [];
      waiting.set(collection, rows);
      rows.push(row);
    },
    async drain(least = batchSize) {
      const full = [...waiting].filter(([, rows]) => rows.length >= least);
      if (full.length === 0) {
        return;
      }
      await underWay;
      full.forEach(([collection]) => waiting.delete(collection));
      underWay = writeAll(db, full);
      // The next call of `drain` rethrows the error.
      underWay.catch(() => undefined);
    },
    async end() {
      await writer.drain(1);
      await underWay;
    },
  };
  return writer;
}

async function writeAll(db: Db, full: [collection: string, rows: object[]][]): Promise<void> {
  for (const [collection, rows] of full) {
    for (let at = 0; at < rows.length; at += batchSize) {
      await db
        .collection(collection)
        .insertMany(rows.slice(at, at + batchSize), { ordered: false, writeConcern: { w: 1 } });
    }
  }
}
