/**
 * Work on one key takes turns within this process, in the order of arrival. It only saves conflicts that would
 * be retried anyway: other processes do not know of it, so nothing may depend on it for being right.
 */
export function takeTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lastByKey = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = lastByKey.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    lastByKey.set(key, mine);
    const forget = () => {
      if (lastByKey.get(key) === mine) {
        lastByKey.delete(key);
      }
    };
    mine.then(forget, forget);
    return mine;
  };
}
