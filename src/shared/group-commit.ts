/**
 * Group commit: while one flush of a key is under way, the next group of that key gathers. No timer, so a lone
 * call waits for nothing; a busy key pays one flush for many calls.
 */
interface Waiting<I, R> {
  item: I;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/**
 * @param flush Handles one group of at most `itemsMax` items of one key and returns a result for each, in order.
 *   If it throws, every call of the group gets the error.
 */
export function groupCommit<I, R>(options: {
  itemsMax: number;
  flush: (key: string, items: I[]) => Promise<R[]>;
}): (key: string, item: I) => Promise<R> {
  const waitingByKey = new Map<string, Waiting<I, R>[]>();

  async function drain(key: string, waiting: Waiting<I, R>[]): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, options.itemsMax);
      try {
        const results = await options.flush(
          key,
          group.map((each) => each.item),
        );
        group.forEach((each, index) => {
          // One result an item is the contract of flush.
          each.resolve(results[index] as R);
        });
      } catch (error) {
        group.forEach((each) => {
          each.reject(error);
        });
      }
    }
    waitingByKey.delete(key);
  }

  return (key, item) =>
    new Promise<R>((resolve, reject) => {
      const waiting = waitingByKey.get(key);
      if (waiting) {
        waiting.push({ item, resolve, reject });
        return;
      }
      const first = [{ item, resolve, reject }];
      waitingByKey.set(key, first);
      void drain(key, first);
    });
}
