import type { Db } from 'mongodb';

/** Rows of any collection, written in large batches: while some are on their way the next are made. */
export interface BulkWriter {
  add(collection: string, row: object): void;
  /** Begins to write every collection of which so many rows wait. */
  drain(least?: number): Promise<void>;
  /** All that waits is written when it ends. */
  end(): Promise<void>;
}

/** More would hold up a small database for longer than others wait for it. */
const batchSize = 1_000;

/** @param db Of a client that is as patient as the driver's are by themselves: the service's own gives up earlier. */
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
      // Whoever drains next hears of it.
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
