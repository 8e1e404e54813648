import type { Document, FindCursor } from 'mongodb';

/** A cursor sorted by a key, read in groups of equal key. Several of them side by side are a merge join. */
export interface KeyedStream<T> {
  /** The next key, or null at the end. */
  peek(): Promise<string | null>;
  /** All documents of this key, one at a time; none if the next key is another. */
  each(key: string): AsyncGenerator<T, void>;
  /** The same as an array, where a key has few. */
  take(key: string): Promise<T[]>;
  close(): Promise<void>;
}

/** @param cursor Sorted ascending by what `keyOf` returns, in the database's binary order of strings. */
export function keyedStream<T extends Document>(
  cursor: FindCursor<T>,
  keyOf: (document: T) => string,
): KeyedStream<T> {
  let head: T | null = null;
  let begun = false;

  async function peek(): Promise<string | null> {
    if (!begun) {
      head = await cursor.next();
      begun = true;
    }
    return head === null ? null : keyOf(head);
  }

  async function* each(key: string): AsyncGenerator<T, void> {
    while ((await peek()) === key && head !== null) {
      const document: T = head;
      begun = false;
      yield document;
    }
  }
  return {
    peek,
    each,
    async take(key) {
      const group: T[] = [];
      for await (const document of each(key)) {
        group.push(document);
      }
      return group;
    },
    close: () => cursor.close(),
  };
}

/** The smallest next key of several streams, or null when all have ended. */
export async function smallestKey(streams: readonly KeyedStream<never>[]): Promise<string | null> {
  let smallest: string | null = null;
  for (const stream of streams) {
    const key = await stream.peek();
    if (key !== null && (smallest === null || key < smallest)) {
      smallest = key;
    }
  }
  return smallest;
}
