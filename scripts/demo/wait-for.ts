/** Waits and checks of the demo. A failed one ends the demo with its reason. */
import { setTimeout as delay } from 'node:timers/promises';
import { PlainError } from '../supervisor/plain-error.js';

const timeoutMs = 30_000;
const pollMs = 100;

/**
 * Polls until `ask` returns a result.
 * @throws PlainError on timeout.
 */
export async function waitFor<T>(what: string, ask: () => Promise<T | null>, hint: string): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await ask();
    if (found !== null) {
      return found;
    }
    expect(performance.now() < deadline, `timed out after ${timeoutMs / 1_000} s until ${what}. ${hint}`);
    await delay(pollMs);
  }
}

/** @throws PlainError unless the condition is true. */
export function expect(condition: boolean, mistake: string): void {
  if (!condition) {
    throw new PlainError(mistake);
  }
}
