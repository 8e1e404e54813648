import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { builtProgram } from '../../config/project-file.js';

const cli = builtProgram('scripts/topup.js');

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output read as JSON. */
  // Tests name the shape they expect.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- see above
  json<T = Record<string, unknown>>(): T;
}

/** Runs the built operator's CLI to its end, with `input` on its standard input. */
export async function topup(args: string[], env: NodeJS.ProcessEnv, input = ''): Promise<CliResult> {
  const child = spawn(process.execPath, [cli, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  // A command that ends without reading its input closes the pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as never };
}
