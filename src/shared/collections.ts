import { setImmediate } from 'node:timers/promises';

/**
 * Returns a record's own entry. A name from input may be `constructor` or `__proto__`, which every
 * record inherits. The linter requires this function for names that are not literals (decision
 * 023).
 */
export function lookUp<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  // eslint-disable-next-line house/record-lookup -- the one place that asks first
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Groups items by key, in their order. (Node 20 has no Map.groupBy.) */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) {
      group.push(item);
    } else {
      groups.set(key, [item]);
    }
  }
  return groups;
}

/** Splits a list into arrays of at most `size` items, in their order. */
export function* splitIntoChunks<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < list.length; start += size) {
    yield list.slice(start, start + size);
  }
}

/**
 * Yields the items of a source in arrays of at most `size`, for work that is cheaper in batches.
 */
export async function* collectChunks<T>(source: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let chunk: T[] = [];
  for await (const item of source) {
    chunk.push(item);
    if (chunk.length === size) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) {
    yield chunk;
  }
}

/** Milliseconds for which a slice of work may hold the event loop. */
const sliceMs = 10;

/**
 * Yields the items of a long source. Pauses when the items have held the event loop for a slice.
 */
export async function* iterateInSlices<T>(source: Iterable<T>): AsyncGenerator<T> {
  let beganMs = performance.now();
  for (const item of source) {
    yield item;
    if (performance.now() - beganMs >= sliceMs) {
      await setImmediate();
      beganMs = performance.now();
    }
  }
}

/**
 * Builds a numbered page. `found` has one row more than `limit` if there are more rows.
 * Rows written between the count and the read push the last row beyond the counted end, where a
 * reader that turns pages would miss it. The total is therefore at least the number of rows seen.
 */
export function buildCountedPage<Row>(
  found: Row[],
  { offset, limit, counted }: { offset: number; limit: number; counted: number },
): { rows: Row[]; total: number } {
  return {
    rows: found.slice(0, limit),
    total: found.length === 0 ? counted : Math.max(counted, offset + found.length),
  };
}
