/**
 * Waits for `work` for at most `ms` milliseconds. The work continues after the timeout, so a retry
 * may run concurrently with it.
 * @param late Builds the error that is thrown at the timeout.
 */
export async function withTimeout<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns a queue that runs work with the same key one after the other, within this process. The
 * queue is not a lock. It prevents database transactions on one document from conflicting until
 * they time out.
 */
export function createKeyedQueue(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    last.set(key, own);
    try {
      return await own;
    } finally {
      if (last.get(key) === own) {
        last.delete(key);
      }
    }
  };
}

interface PendingItem<I, R> {
  item: I;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches calls: while one batch runs, further items are collected for the next batch. There is no
 * timer, so a single caller does not wait.
 * @param options.run Returns the results of at most `itemsMax` items, in their order. If it throws,
 * every caller of the batch gets the error.
 */
export function batchCalls<I, R>(options: {
  itemsMax: number;
  run: (items: I[]) => Promise<R[]>;
}): (item: I) => Promise<R> {
  let waiting: PendingItem<I, R>[] = [];
  let isRunning = false;

  async function drain(): Promise<void> {
    isRunning = true;
    // Items that are added in the same event loop iteration join the first batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.slice(0, options.itemsMax);
      waiting = waiting.slice(options.itemsMax);
      try {
        const results = await options.run(group.map((each) => each.item));
        // `run` returns one result per item.
        group.forEach((each, index) => each.resolve(results[index] as R));
      } catch (error) {
        group.forEach((each) => each.reject(error));
      }
    }
    isRunning = false;
  }

  return (item) =>
    new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isRunning) {
        void drain();
      }
    });
}
