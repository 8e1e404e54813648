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
