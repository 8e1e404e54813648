import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/**
 * Starts a program of the tests (`*-process.ts`), built together with them.
 * @param name its path without `.ts`.
 * @param options.silent What it logs is dropped: for those in which much is made to fail.
 */
export function forkTestProgram(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
  { silent = false }: { silent?: boolean } = {},
): ChildProcess {
  const out = silent ? 'ignore' : 'inherit';
  return fork(join(process.env['BUILT_TESTS'] ?? '', `${name}.mjs`), {
    env,
    stdio: ['ignore', out, out, 'ipc'],
  });
}
