import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/** Starts a program of the tests (`*-process.ts`), built together with them. @param name its path without `.ts`. */
export function forkTestProgram(name: string, env: NodeJS.ProcessEnv = process.env): ChildProcess {
  return fork(join(process.env['BUILT_TESTS'] ?? '', `${name}.mjs`), { env });
}
