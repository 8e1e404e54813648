/** Waits for a condition, never for a time. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | false | null | undefined> | T | false | null | undefined,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
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
    if (Date.now() > deadline) {
      throw new Error(`Not within ${timeoutMs} ms: ${what}. Last: ${String(last)}`, {
        cause: last instanceof Error ? last : undefined,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
