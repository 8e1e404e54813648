/** Excludes numbers. With a number, a check that found 0 would count as "nothing found". */
type Found<T> = T extends number ? never : T;

/**
 * Polls until `check` returns a value.
 * @throws Error if there is none within `timeoutMs`.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<Found<T> | false | null | undefined> | Found<T> | false | null | undefined,
  timeoutMs = 15_000,
): Promise<T> {
  const startedAt = Date.now();
  let last: unknown;
  for (;;) {
    try {
      const result = await check();
      if (result !== false && result !== null && result !== undefined) {
        return result;
      }
      last = result;
    } catch (error) {
      last = error;
    }
    if (Date.now() - startedAt > timeoutMs) {
      throw new Error(`Not within ${timeoutMs} ms: ${what}. Last: ${String(last)}`, {
        cause: last instanceof Error ? last : undefined,
      });
    }
    // Wait 5 % of the elapsed time, so that a long wait polls less often.
    const pauseMs = Math.min(250, Math.max(25, (Date.now() - startedAt) / 20));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
