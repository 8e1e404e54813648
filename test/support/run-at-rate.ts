/**
 * Runs `act` at a steady rate, as clients would. The rate is part of the test and does not wait for
 * a condition. If calls are late, the next ones follow without a pause.
 */
export async function runAtRate(
  perSecond: number,
  times: number,
  act: (index: number) => void | Promise<void>,
): Promise<void> {
  const startMs = performance.now();
  for (let index = 0; index < times; index++) {
    const dueMs = startMs + (index * 1_000) / perSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    await act(index);
  }
}
