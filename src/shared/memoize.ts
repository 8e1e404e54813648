import { setTimeout as wait } from 'node:timers/promises';

/**
 * The same answer for everybody who asks within so many milliseconds, of this process. For figures that cost many reads
 * and that several people watch; never for what a decision goes by. Errors are not remembered.
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
 * As above for what may take long and says of when it is: who asks waits for `patienceMs` at most, and is answered with the last answer that is not
 * older than `oldestMs`, or with null. Then `isUnderWay`: a new one comes, and who asks again soon has it.
 */
export function staleWhileRevalidate<T>(
  { ms, patienceMs, oldestMs }: { ms: number; patienceMs: number; oldestMs: number },
  ask: () => Promise<T>,
): () => Promise<{ answer: T | null; isUnderWay: boolean }> {
  let known: { answer: T; sinceMs: number } | null = null;
  const asked = memoizeFor(ms, async () => {
    const answer = await ask();
    known = { answer, sinceMs: performance.now() };
    return answer;
  });
  return async () => {
    const coming = asked().then((answer) => ({ answer, isUnderWay: false }));
    const isFresh = known !== null && performance.now() - known.sinceMs <= oldestMs;
    const before = isFresh ? (known?.answer ?? null) : null;
    return Promise.race([coming, wait(patienceMs, { answer: before, isUnderWay: true })]);
  };
}
