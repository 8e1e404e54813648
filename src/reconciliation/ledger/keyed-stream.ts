import type { Collection, Document, Filter } from 'mongodb';
import { readWithRetries } from './read-pages.js';
import { rawReadOptions } from './read-document.js';

/**
 * Documents in the order of an index, a batch at a time: each batch is one query that begins where the last one
 * ended. Nothing stays open at the server between two, so it may take hours from one to the next.
 * @param from Where to go on: this document and what follows it; null: from the beginning.
 */
export type ReadBatch = (from: Document | null, limit: number) => Promise<Document[]>;

/** Documents by rising key, read in groups of equal key. Several of them side by side are a merge join. */
export interface KeyedStream {
  /** True if `fill` has to be called before anything else. */
  isEmpty(): boolean;
  fill(): Promise<void>;
  /** The next key, or null at the end. */
  head(): string | null;
  /** The documents of this key that are at hand; none if the next key is another. */
  take(key: string): Document[];
}

interface Options {
  readBatch: ReadBatch;
  /** Null where a document has no text as its key: it goes to `onOdd`, and the stream goes on. */
  keyOf: (document: Document) => string | null;
  onOdd?: (document: Document) => void;
  /** Documents of one position are never parted by the end of a batch. */
  positionOf: (document: Document) => string;
  batchSize?: number;
}

const batchSizeDefault = 500;

/** Reads on while what it has is being worked on: at most two batches are in memory. */
export function createKeyedStream(options: Options): KeyedStream {
  let at = 0;
  let batch: Document[] = [];
  let next: Promise<Batch> | null = readWhole(options, null);
  return {
    isEmpty: () => at === batch.length && next !== null,
    async fill() {
      if (next) {
        const { documents, resumeFrom } = await next;
        [batch, at] = [documents, 0];
        next = resumeFrom === null ? null : readWhole(options, resumeFrom);
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
  /** The first document that is left for the next batch; null at the end. */
  resumeFrom: Document | null;
}

/** A batch without the position that it may have cut; larger ones until it has a whole position. */
function readWhole(options: Options, from: Document | null) {
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
  // Whoever fills the stream hears of it; until then nobody listens.
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

/** Batches by one field that has an index: its texts from the smallest on. */
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

/** The smallest next key of several streams, or null when all have ended. */
export async function smallestKey(streams: readonly KeyedStream[]): Promise<string | null> {
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
