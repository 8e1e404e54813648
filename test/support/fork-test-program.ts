import { fork, type ChildProcess } from 'node:child_process';
import { getBuiltProgramPath } from '../../config/project-file.js';

/**
 * Starts a test program (`*-process.ts`), which is built together with the tests.
 * @param name Path of the program without `.ts`.
 * @param options.silent Suppresses the output, for programs whose operations mostly fail.
 * @param options.execArgv Options for Node.
 */
export function forkTestProgram(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
  { silent = false, execArgv = [] }: { silent?: boolean; execArgv?: string[] } = {},
): ChildProcess {
  const out = silent ? 'ignore' : 'inherit';
  return fork(getBuiltProgramPath('scripts/test/test-program.js'), [`${name}.ts`], {
    env,
    execArgv,
    stdio: ['ignore', out, out, 'ipc'],
  });
}
