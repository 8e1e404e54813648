import { once } from 'node:events';
import { forkTestProgram } from './fork-test-program.js';
import type { Stack } from './stack.js';

/** For tests that write accounts, products, offers or provider states into a stack's database themselves. */
export async function announceChange(stack: Pick<Stack, 'env'>): Promise<void> {
  const [code] = (await once(forkTestProgram('test/support/announce-process', stack.env), 'exit')) as [
    number,
  ];
  if (code !== 0) {
    throw new Error(`The program that announces a change ended with ${code}`);
  }
}
