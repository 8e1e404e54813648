import type { Collection, Document, Filter } from 'mongodb';
import { readWithRetries } from './read-pages.js';
import { rawReadOptions } from './read-document.js';

/**
 * Reads a batch of documents in the order of an index. Each batch is a new query that starts where
 * the previous batch ended. No cursor stays open, so hours may pass between two batches.
 * @param from First document of the batch. Null to start at the beginning.
 */
export type ReadBatch = (from: Document | null, limit: number) => Promise<Document[]>;

/**
 * A stream of documents in ascending key order, read in groups of equal keys. Several streams in
 * parallel form a merge join.
 */
export interface KeyedStream {
  /** True if `fill` must be called first. */
  isEmpty(): boolean;
  fill(): Promise<void>;
  /** Returns the next key, or null at the end. */
  head(): string | null;
  /** Takes the buffered documents with this key. Returns none if the next key differs. */
  take(key: string): Document[];
}

interface Options {
  readBatch: ReadBatch;
  /** Returns null if the key is not a string. The document is then passed to `onOdd`. */
  keyOf: (document: Document) => string | null;
  onOdd?: (document: Document) => void;
  /** Documents with the same position are never split across batches. */
  positionOf: (document: Document) => string;
  batchSize?: number;
}

const batchSizeDefault = 500;

/** Creates a stream that prefetches the next batch, so at most two batches are in memory. */
export function createKeyedStream(options: Options): KeyedStream {
  let at = 0;
  let batch: Document[] = [];
  let next: Promise<Batch> | null = readWholeBatch(options, null);
  return {
    isEmpty: () => at === batch.length && next !== null,
    async fill() {
      if (next) {
        const { documents, resumeFrom } = await next;
        [batch, at] = [documents, 0];
        next = resumeFrom === null ? null : readWholeBatch(options, resumeFrom);
      }
    },
    head() {
      const document = batch[at];
      return document === undefined ? null : options.keyOf(document);
    },
    take(key) {
      const from = at;
      for (let document = batch[at]; document && options.keyOf(document) === key; document = batch[at]) {
        at += 1;
      }
      return batch.slice(from, at);
    },
  };
}

interface Batch {
  documents: Document[];
  /** First document of the next batch. Null at the end. */
  resumeFrom: Document | null;
}

/**
 * Reads a batch without its last position, which may be incomplete. Doubles the limit until all
 * documents of one position fit.
 */
function readWholeBatch(options: Options, from: Document | null) {
  const { readBatch, positionOf, batchSize = batchSizeDefault } = options;
  async function read(limit: number): Promise<Batch> {
    const found = await readWithRetries(() => readBatch(from, limit));
    const documents = dropInvalidKeys(found, options);
    if (found.length < limit) {
      return { documents, resumeFrom: null };
    }
    const last = documents.at(-1);
    const cut = last ? documents.findIndex((each) => positionOf(each) === positionOf(last)) : 0;
    const resumeFrom = documents[cut];
    return cut === 0 || !resumeFrom ? read(limit * 2) : { documents: documents.slice(0, cut), resumeFrom };
  }
  const reading = read(batchSize);
  // `fill` handles the error. Until then, this handler prevents an unhandled rejection.
  reading.catch(() => undefined);
  return reading;
}

function dropInvalidKeys(found: Document[], { keyOf, onOdd }: Options): Document[] {
  return found.filter((each) => {
    const isOdd = keyOf(each) === null;
    if (isOdd) {
      onOdd?.(each);
    }
    return !isOdd;
  });
}

/** Returns a reader that reads batches by one indexed field, starting at its smallest string. */
export function buildBatchReader<T extends Document>(
  collection: Collection<T>,
  field: string,
  options: { fields: Document; filter?: Document },
): ReadBatch {
  return (from, limit) => {
    const first: unknown = from === null ? '' : from[field];
    return collection
      .find({ [field]: { ...options.filter, $gte: first } } as Filter<T>, {
        ...rawReadOptions,
        projection: options.fields,
        batchSize: limit + 1,
      })
      .sort({ [field]: 1 })
      .limit(limit)
      .toArray();
  };
}

/** Returns the smallest next key of several streams, or null when all have ended. */
export async function findSmallestKey(streams: readonly KeyedStream[]): Promise<string | null> {
  let smallest: string | null = null;
  for (const stream of streams) {
    if (stream.isEmpty()) {
      await stream.fill();
    }
    const key = stream.head();
    if (key !== null && (smallest === null || key < smallest)) {
      smallest = key;
    }
  }
  return smallest;
}
