import { setTimeout as pause } from 'node:timers/promises';

/**
 * Polls until `isTrue` returns true.
 * @throws Error that names the condition on timeout.
 */
export async function untilTrue(
  { everyMs, limitMs, what }: { everyMs: number; limitMs: number; what: string },
  isTrue: () => Promise<boolean>,
): Promise<void> {
  const startedMs = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedMs > limitMs) {
      throw new Error(`Timed out after ${limitMs / 1_000} s, waiting until ${what}`);
    }
    await pause(everyMs);
  }
}
