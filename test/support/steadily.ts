/**
 * Runs `act` at a steady rate, as clients do. The rate is part of the test, not a wait for a
 * condition. Late calls catch up.
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
