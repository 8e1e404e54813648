import { chunkSizesOf, countEntriesBefore, resizeChunk, type ChunkSizes } from './chunk-sizes.js';

/**
 * A sorted list of entries with a key string and a record. Entries with equal keys are ordered by
 * record number, which means by age. The list consists of small sorted arrays (chunks), so an
 * insertion moves few entries, and an entry takes only two array slots.
 */
export interface HasRecordNumber {
  readonly number: number;
}

interface Chunk<R> {
  keys: string[];
  records: R[];
}

export interface SortedList<R extends HasRecordNumber> {
  chunks: Chunk<R>[];
  /**
   * The sizes of the chunks, for counting entries. Null if a chunk was added or removed after the
   * sizes were computed.
   */
  sizes: ChunkSizes | null;
  /**
   * Incremented whenever an entry is added or removed. A paused reader then knows that it must
   * search its position again.
   */
  changes: number;
}

const CHUNK_ENTRIES = 256;

export function createSortedList<R extends HasRecordNumber>(): SortedList<R> {
  return { chunks: [{ keys: [], records: [] }], sizes: null, changes: 0 };
}

/** Creates a list from entries that are already sorted. */
export function sortedListOf<R extends HasRecordNumber>(
  entries: readonly { key: string; record: R }[],
): SortedList<R> {
  const list = createSortedList<R>();
  for (let at = 0; at < entries.length; at += CHUNK_ENTRIES) {
    const part = entries.slice(at, at + CHUNK_ENTRIES);
    list.chunks.push({ keys: part.map(({ key }) => key), records: part.map(({ record }) => record) });
  }
  if (list.chunks.length > 1) {
    list.chunks.shift();
  }
  return list;
}

/** Adds an entry unless it already exists. */
export function addEntry<R extends HasRecordNumber>(list: SortedList<R>, key: string, record: R): void {
  const chunkAt = chunkFor(list, key, record.number);
  const chunk = chunkOf(list, chunkAt);
  const at = findPosition(chunk, key, record.number);
  if (chunk.keys[at] === key && chunk.records[at] === record) {
    return;
  }
  list.changes += 1;
  if (at === chunk.keys.length) {
    chunk.keys.push(key);
    chunk.records.push(record);
  } else {
    chunk.keys.splice(at, 0, key);
    chunk.records.splice(at, 0, record);
  }
  if (list.sizes !== null) {
    resizeChunk(list.sizes, chunkAt, 1);
  }
  if (chunk.keys.length > CHUNK_ENTRIES * 2) {
    // If keys are inserted in ascending order, such as ObjectIds and dates, the old chunk stays
    // full. Otherwise the chunk is split in half.
    const keep = at >= chunk.keys.length - 2 ? CHUNK_ENTRIES * 2 - 1 : CHUNK_ENTRIES;
    list.chunks.splice(chunkAt + 1, 0, {
      keys: chunk.keys.splice(keep),
      records: chunk.records.splice(keep),
    });
    list.sizes = null;
  }
}

/** Removes an entry if it exists. */
export function removeEntry<R extends HasRecordNumber>(list: SortedList<R>, key: string, record: R): void {
  const chunkAt = chunkFor(list, key, record.number);
  const chunk = chunkOf(list, chunkAt);
  const at = findPosition(chunk, key, record.number);
  if (chunk.keys[at] !== key || chunk.records[at] !== record) {
    return;
  }
  list.changes += 1;
  chunk.keys.splice(at, 1);
  chunk.records.splice(at, 1);
  if (list.sizes !== null) {
    resizeChunk(list.sizes, chunkAt, -1);
  }
  if (chunk.keys.length === 0 && list.chunks.length > 1) {
    list.chunks.splice(chunkAt, 1);
    list.sizes = null;
  }
}

/**
 * Counts the entries with from <= key < to. Only the positions of both ends are searched. Adds the
 * number of compared keys to `stats`.
 */
export function countEntries<R extends HasRecordNumber>(
  list: SortedList<R>,
  { from, to }: { from: string; to: string },
  stats: { keysExamined: number },
): number {
  return Math.max(0, entriesBelow(list, to, stats) - entriesBelow(list, from, stats));
}

function entriesBelow<R extends HasRecordNumber>(
  list: SortedList<R>,
  key: string,
  stats: { keysExamined: number },
): number {
  const chunkAt = chunkFor(list, key, -1, stats);
  list.sizes ??= chunkSizesOf(list.chunks.map(({ keys }) => keys.length));
  return countEntriesBefore(list.sizes, chunkAt) + findPosition(chunkOf(list, chunkAt), key, -1, stats);
}

/**
 * Yields the entries with from <= key < to in ascending order. If the list changes meanwhile,
 * reading continues after the last entry that was yielded.
 */
export function* iterateAscending<R extends HasRecordNumber>(
  list: SortedList<R>,
  from: string,
  to: string,
): Generator<[string, R]> {
  let chunkAt = chunkFor(list, from, -1);
  let at = findPosition(chunkOf(list, chunkAt), from, -1);
  while (chunkAt < list.chunks.length) {
    const { keys, records } = chunkOf(list, chunkAt);
    const key = keys[at];
    const record = records[at];
    if (key === undefined || record === undefined) {
      chunkAt += 1;
      at = 0;
      continue;
    }
    if (key >= to) {
      return;
    }
    const { changes } = list;
    yield [key, record];
    if (list.changes === changes) {
      at += 1;
    } else {
      chunkAt = chunkFor(list, key, record.number + 1);
      at = findPosition(chunkOf(list, chunkAt), key, record.number + 1);
    }
  }
}

/**
 * Yields the entries with from <= key < to in descending order. If the list changes meanwhile,
 * reading continues before the last entry that was yielded.
 */
export function* iterateDescending<R extends HasRecordNumber>(
  list: SortedList<R>,
  from: string,
  to: string,
): Generator<[string, R]> {
  let chunkAt = chunkFor(list, to, -1);
  let at = findPosition(chunkOf(list, chunkAt), to, -1) - 1;
  while (chunkAt >= 0) {
    const { keys, records } = chunkOf(list, chunkAt);
    const key = keys[at];
    const record = records[at];
    if (key === undefined || record === undefined) {
      chunkAt -= 1;
      at = chunkAt >= 0 ? chunkOf(list, chunkAt).keys.length - 1 : -1;
      continue;
    }
    if (key < from) {
      return;
    }
    const { changes } = list;
    yield [key, record];
    if (list.changes === changes) {
      at -= 1;
    } else {
      chunkAt = chunkFor(list, key, record.number);
      at = findPosition(chunkOf(list, chunkAt), key, record.number) - 1;
    }
  }
}

/** Returns the records of all entries with exactly this key. */
export function getRecords<R extends HasRecordNumber>(list: SortedList<R>, key: string): R[] {
  const found: R[] = [];
  let chunkAt = chunkFor(list, key, -1);
  let at = findPosition(chunkOf(list, chunkAt), key, -1);
  for (; chunkAt < list.chunks.length; chunkAt++, at = 0) {
    const { keys, records } = chunkOf(list, chunkAt);
    for (; at < keys.length; at++) {
      const record = records[at];
      if (keys[at] !== key || record === undefined) {
        return found;
      }
      found.push(record);
    }
  }
  return found;
}

function chunkOf<R extends HasRecordNumber>(list: SortedList<R>, at: number): Chunk<R> {
  const chunk = list.chunks[at];
  if (chunk === undefined) {
    throw new RangeError(`the list has no chunk ${at}`);
  }
  return chunk;
}

/** Passed to lookups whose statistics are not needed. */
const uncounted = { keysExamined: 0 };

/** Returns the position of the last chunk whose first entry is not after (key, number). */
function chunkFor<R extends HasRecordNumber>(
  list: SortedList<R>,
  key: string,
  number: number,
  stats = uncounted,
): number {
  let low = 0;
  let high = list.chunks.length - 1;
  while (low < high) {
    stats.keysExamined += 1;
    const middle = (low + high + 1) >> 1;
    if (isBelow(chunkOf(list, middle), 0, key, number) || isAt(chunkOf(list, middle), key, number)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

function isAt<R extends HasRecordNumber>(chunk: Chunk<R>, key: string, number: number): boolean {
  return chunk.keys[0] === key && chunk.records[0]?.number === number;
}

/** Returns the position of the first entry that is not before (key, number). */
function findPosition<R extends HasRecordNumber>(
  chunk: Chunk<R>,
  key: string,
  number: number,
  stats = uncounted,
): number {
  stats.keysExamined += 1;
  const last = chunk.keys.length - 1;
  if (last < 0 || isBelow(chunk, last, key, number)) {
    return last + 1;
  }
  let low = 0;
  let high = last;
  while (low < high) {
    stats.keysExamined += 1;
    const middle = (low + high) >> 1;
    if (isBelow(chunk, middle, key, number)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function isBelow<R extends HasRecordNumber>(
  chunk: Chunk<R>,
  at: number,
  key: string,
  number: number,
): boolean {
  const other = chunk.keys[at] ?? '';
  if (other !== key) {
    return other < key;
  }
  return (chunk.records[at]?.number ?? 0) < number;
}
