/**
 * The same answer for everybody who asks within so many milliseconds, of this process. For figures that cost many reads
 * and that several people watch; never for what a decision goes by. Errors are not remembered.
 */
export function rememberedFor<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
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
