import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { getBuiltProgramPath } from '../../config/project-file.js';

/**
 * Runs a built script to its end. Returns its stdout.
 * @throws Error with its entire output if the exit code is not 0.
 */
export async function runToEnd(
  script: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const child = spawn(process.execPath, [getBuiltProgramPath(script), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let all = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    all += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    all += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) {
    throw new Error(`dist/${script} ended with ${code ?? 'a signal'}:\n${all}`);
  }
  return stdout;
}
