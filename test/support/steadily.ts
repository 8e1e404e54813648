/**
 * Does something at a steady rate, as clients do. The rate is a part of what such a test says, not a wait for
 * something to happen; whoever comes late catches up.
 */
export async function steadily(
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
