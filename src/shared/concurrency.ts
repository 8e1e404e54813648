/**
 * Waits for `work`, but not for ever. What it waited for goes on: this is for what may run beside its own repeat.
 * @param late Makes the error that is thrown once the time is over.
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
 * Runs what has the same key one after the other, within this process. It guards nothing: it spares database
 * transactions about one document from running into each other until their time is over.
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

/**
 * Makes one call of many: while one is under way, what is asked meanwhile gathers for the next. There is no timer, so
 * a lone caller waits for nobody.
 */
interface Waiting<I, R> {
  item: I;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/**
 * @param run Answers at most `itemsMax` items, in their order. If it throws, all of them hear the error.
 */
export function batchCalls<I, R>(options: {
  itemsMax: number;
  run: (items: I[]) => Promise<R[]>;
}): (item: I) => Promise<R> {
  let waiting: Waiting<I, R>[] = [];
  let isRunning = false;

  async function drain(): Promise<void> {
    isRunning = true;
    // What is asked in this same turn of the event loop belongs to the first call already.
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = waiting.slice(0, options.itemsMax);
      waiting = waiting.slice(options.itemsMax);
      try {
        const results = await options.run(group.map((each) => each.item));
        // One result an item is the contract of `run`.
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
