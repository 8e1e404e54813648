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
