import { once } from 'node:events';
import { forkTestProgram } from './fork-test-program.js';
import type { Stack } from './stack.js';

/**
 * Announces to all processes of a stack that accounts, products, offers or provider states have
 * changed. Call it after the test itself writes to the stack's database.
 */
export async function announceChange(stack: Pick<Stack, 'env'>): Promise<void> {
  const [code] = (await once(forkTestProgram('test/support/announce-process', stack.env), 'exit')) as [
    number,
  ];
  if (code !== 0) {
    throw new Error(`The program that announces a change ended with ${code}`);
  }
}
