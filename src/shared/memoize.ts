import { setTimeout as wait } from 'node:timers/promises';

/**
 * Returns a function that caches the result of `ask` for `ms` milliseconds in this process. Use it
 * for costly figures that several operators watch, never for decisions. Errors are not cached.
 */
export function memoizeFor<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { answer: Promise<T>; untilMs: number } | null = null;
  return () => {
    if (last && performance.now() < last.untilMs) {
      return last.answer;
    }
    const answer = ask();
    const asked = { answer, untilMs: performance.now() + ms };
    last = asked;
    answer.catch(() => {
      if (last === asked) {
        last = null;
      }
    });
    return answer;
  };
}

/**
 * Stale-while-revalidate. A caller waits for at most `maxWaitMs`. After that, the caller gets the
 * last result that is not older than `maxStaleMs`, or null.
 * `isUnderWay` is true while a new result is being computed. A later call returns that result.
 */
export function staleWhileRevalidate<T>(
  { ttlMs, maxWaitMs, maxStaleMs }: { ttlMs: number; maxWaitMs: number; maxStaleMs: number },
  ask: () => Promise<T>,
): () => Promise<{ answer: T | null; isUnderWay: boolean }> {
  let known: { answer: T; sinceMs: number } | null = null;
  const asked = memoizeFor(ttlMs, async () => {
    const answer = await ask();
    known = { answer, sinceMs: performance.now() };
    return answer;
  });
  return async () => {
    const coming = asked().then((answer) => ({ answer, isUnderWay: false }));
    const isFresh = known !== null && performance.now() - known.sinceMs <= maxStaleMs;
    const before = isFresh ? (known?.answer ?? null) : null;
    return Promise.race([coming, wait(maxWaitMs, { answer: before, isUnderWay: true })]);
  };
}
