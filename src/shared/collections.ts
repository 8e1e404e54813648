import { setImmediate } from 'node:timers/promises';

/**
 * What a record says of a name that somebody else chose: `constructor` and `__proto__` are names like any other, and mostly
 * of nothing. The linter wants it wherever a record is asked by a text that is not written out (decision 023).
 */
export function lookUp<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  // eslint-disable-next-line house/record-lookup -- the one place that asks first
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The items of each key, in their order. (Node 20 has no Map.groupBy.) */
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

/** A list in arrays of at most `size`, in its order. */
export function* splitIntoChunks<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < list.length; start += size) {
    yield list.slice(start, start + size);
  }
}

/** The items of a source in arrays of at most `size`: for work that is cheaper for many at once. */
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

/** So long one slice of work holds up everything else in the process. */
const sliceMs = 10;

/** The items of a long source, with a pause whenever they have held the event loop for a slice. */
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
 * A numbered page of which one row more was asked for, and how many rows there are. What is written between count and reading moves
 * the last row behind the end that was counted, and whoever reads page by page would never see it: there are no fewer than were seen.
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
